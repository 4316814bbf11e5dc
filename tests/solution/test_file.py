"""solution.save and tengbc.load: the same bits, the same refusals, and nothing in a file is run."""

import dataclasses
import json
import math

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import CheckpointError, OutsideError, UsageError
from tengbc.history import Record
from tengbc.networks import Basis, Parameters
from tengbc.networks.network import with_head
from tengbc.outcome import Outcome, Result
from tengbc.solution import Solution
from tengbc.solution.file import FORM
from tengbc.storage import codec
from tengbc.storage.checksummed import pack, unpack
from tests.networks.cases import NETWORKS, dim, some_theta

DOMAINS = {
    "interval": tb.Interval(-1, 2),
    "disk": tb.Disk(0.1 + 0.2, (1 / 3, -2.0)),
    "annulus": tb.Annulus(0.5, 1.5, (1, 1)),
    "sector": tb.AnnularSector(0.5, 1.0, 0.0, math.pi / 2),
    "rectangle": tb.Rectangle((0, 0), (1, 2)),
    "box": tb.Box((0, 0, 0), (1, 2, 3)),
    "ball": tb.Ball(2.0, (0, 0, 1)),
    "periodic": tb.PeriodicBox((0, -1), (2, 1)),
    "polygon": tb.Polygon(
        np.array([(0, 0), (3, 0), (3, 2), (0, 2)]),
        holes=[[(1, 0.5), (1.1, 0.5), (1, 1)], [(2, 0.5), (2.5, 0.5), (2, 1)]],
        names=["south", "east", "wall", "wall"],
    ),
    "round hole": tb.Polygon([(0, 0), (3, 0), (0, 2)], holes=[tb.Disk(0.1 + 0.2, (0.7, 0.6))]),
    "parts": tb.Disk(2.0).with_parts(east=("circle", lambda x: x[0] > 1 / 3)),
}
HISTORY = (
    Record(1, 0.1, {"fit_residual": 1e-3, "condition": np.inf, "boundary_a": 1e-5}),
    Record(2, 0.2, {"condition": 3.0, "boundary_a": 1e-5}),
)


def problem(domain, components=0, name=""):
    """Nothing moves: only what a file must hold matters."""
    value = jnp.zeros(components) if components else 0.0
    conditions = {segment: lambda u, x, n, t: u(x) for segment in domain.segments}
    return tb.Problem(domain, lambda u, x, t: 0 * u(x), conditions, lambda x: value, name=name)


def made(network, domain, components=0, frozen=False, name="", **changes) -> Solution:
    parameters = Parameters(network)
    thetas = np.stack([some_theta(parameters, seed) for seed in range(4)])
    if frozen:
        thetas[:, : parameters.head.start] = thetas[0, : parameters.head.start]
    arguments = {
        "problem": problem(domain, components, name),
        "parameters": parameters,
        "times": np.array([0.0, 0.1, 1 / 3, 1.0]),
        "thetas": thetas,
        "result": Result(Outcome.TOLERANCE_NOT_REACHED, 'a "quoted" sentence, ∂ₙu.'),
        "history": HISTORY,
        "error_estimate": np.array([1e-9, np.nan, 0.0, 0.1]),
        "seconds": {"march": 0.1, "compile": 2.0},
        "facts": {"preset": "fast", "steps": np.int64(3), "widths": (4, 4), "worst": np.inf},
    }
    return Solution(**(arguments | changes))


def box_of(count: int):
    return tb.Box([-1.0] * count, [2.0] * count)


@pytest.mark.parametrize(
    "name",
    ["tanh-uneven", "swish-system", "periodic-system", "softplus-4d", "random-features", "basis"],
)
def test_every_kind_of_network(name, tmp_path):
    network, frozen = NETWORKS[name], name in ("random-features", "basis", "periodic-system")
    components = 0 if network.scalar else network.head.bias.size
    solution = made(network, box_of(dim(name)), components, frozen)
    given = {"body": network.body} if isinstance(network.body, Basis) else {}
    loaded = tb.load(solution.save(tmp_path / "u.safetensors"), **given)
    points = solution.problem.domain.interior(9).x
    for t in (1 / 3, 0.77):
        np.testing.assert_array_equal(loaded(points, t), solution(points, t), strict=True)
    np.testing.assert_array_equal(loaded.thetas, solution.thetas, strict=True)
    assert loaded.frozen == solution.frozen


@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain(name, tmp_path):
    domain = DOMAINS[name]
    solution = made(tb.random_features(domain, 12), domain)
    loaded = tb.load(solution.save(tmp_path / "u.safetensors"))
    restored = loaded.problem.domain
    assert restored == domain and type(restored) is type(domain)
    assert restored.segments == domain.segments
    for segment in domain.segments:
        np.testing.assert_array_equal(
            restored.boundary(segment, 7).x, domain.boundary(segment, 7).x
        )
    lower, upper = domain.bounds
    points = np.random.default_rng(0).uniform(lower - 0.2, upper + 0.2, (50, domain.dim))
    expected = solution(points, 0.4, outside="nan")
    np.testing.assert_array_equal(loaded(points, 0.4, outside="nan"), expected)
    assert np.isnan(expected).any() != domain.periodic


def test_all_that_is_known_comes_back(tmp_path):
    solution = made(tb.random_features(tb.Disk(), 12), tb.Disk(), name="mine")
    loaded = tb.load(solution.save(tmp_path / "u.safetensors"))
    assert loaded.result == solution.result
    assert repr(list(loaded.history)) == repr(list(solution.history))  # NaN equals itself here
    np.testing.assert_array_equal(loaded.error_estimate, solution.error_estimate)
    np.testing.assert_array_equal(loaded.times, solution.times)
    assert loaded.seconds == solution.seconds
    assert loaded.facts == {"preset": "fast", "steps": 3, "widths": [4, 4], "worst": "inf"}
    again = loaded.save(tmp_path / "again.safetensors")
    assert tb.load(again).problem.described() == solution.problem.described()


def test_refusals_are_the_same(tmp_path, robin):
    loaded = tb.load(robin.save(tmp_path / "u.safetensors"))
    for x, t in (([2.0, 0.0], 0.5), ([0.0, 0.0], 1.1), ([0.0, 0.0], -1e-6)):
        with pytest.raises(OutsideError) as ours:
            robin(x, t)
        with pytest.raises(OutsideError) as theirs:
            loaded(x, t)
        assert str(ours.value) == str(theirs.value)


def test_a_benchmark_comes_back_whole(tmp_path, robin):
    loaded = tb.load(robin.save(tmp_path / "u.safetensors"))
    points = robin.problem.domain.interior(100).x
    for t in (0.0, 0.123, 1.0):
        np.testing.assert_array_equal(loaded(points, t), robin(points, t))
        difference = loaded(points, t) - loaded.problem.exact(points, t)
        assert np.abs(difference).max() < 1e-3
    assert loaded.problem.equation.formula == "0.1·∇²u"
    assert loaded.problem.rtol == robin.problem.rtol


def test_the_name_alone_makes_no_benchmark(tmp_path):
    """A problem of one's own under a benchmark's name stays what it is."""
    solution = made(tb.random_features(tb.Disk(), 12), tb.Disk(), name="heat-robin")
    loaded = tb.load(solution.save(tmp_path / "u.safetensors"))
    assert loaded.problem.name == "heat-robin" and loaded.problem.exact_function is None
    benchmark = tb.problems.get("heat-robin")
    other = tb.Problem(
        benchmark.domain, benchmark.equation, benchmark.conditions, 1.0, name="heat-robin"
    )
    solution = dataclasses.replace(solution, problem=other)
    loaded = tb.load(solution.save(tmp_path / "u.safetensors"))
    assert loaded.problem.exact_function is None


def test_a_problem_without_its_functions(tmp_path):
    solution = made(tb.random_features(tb.Disk(), 12), tb.Disk())
    path = solution.save(tmp_path / "u.safetensors")
    problem = tb.load(path).problem
    assert problem.equation.formula == solution.problem.equation.formula
    assert problem.conditions["circle"].formula == "g(u, x, n, t) = 0"
    x = np.zeros(2)
    for ask in (
        lambda: problem.equation.rhs(lambda y: y[0], x, 0.0),
        lambda: problem.conditions["circle"].residual(lambda y: y[0], x, x, 0.0),
        lambda: problem.initial(x),
        lambda: problem.initial_function(x),
        lambda: problem.exact(x, 0.0),
    ):
        with pytest.raises(UsageError, match=r"A file holds no Python functions, so .* problem=…"):
            ask()
    assert tb.load(path, problem=solution.problem).problem is solution.problem
    with pytest.raises(UsageError, match="pass the problem that was solved"):
        tb.load(path, problem=tb.problems.get("heat-mixed"))


def test_a_frozen_body_is_stored_once(tmp_path):
    network = tb.random_features(tb.Disk(), 500)
    parameters = Parameters(network)
    times = np.linspace(0.0, 1.0, 100)
    thetas = np.repeat(some_theta(parameters)[None], 100, axis=0)
    solution = made(
        network, tb.Disk(), times=times, thetas=thetas, history=(), error_estimate=np.zeros(100)
    )
    size = solution.save(tmp_path / "u.safetensors").stat().st_size
    heads, body = 100 * 501 * 8, 500 * 3 * 8
    assert heads + body < size < heads + body + 10_000


def test_a_basis_is_python_and_must_be_given(tmp_path):
    network = NETWORKS["basis"]
    path = made(network, tb.Disk()).save(tmp_path / "u.safetensors")
    with pytest.raises(CheckpointError, match=r"holds a 'Basis', which .* pass .* body=…"):
        tb.load(path)
    with pytest.raises(CheckpointError, match="network has 2 parameters, but the file 5"):
        tb.load(path, body=Basis(lambda x: x[:1], 2))


@dataclasses.dataclass(frozen=True)
class Wedge:
    """Not a domain, but a class like one."""

    angle: float


def test_a_class_of_ones_own_is_registered_in_one_line(monkeypatch):
    monkeypatch.setattr(codec, "_KINDS", dict(codec._KINDS))
    assert codec.encode(Wedge(0.1)) == {"kind": "Wedge"}
    codec.register(Wedge)
    assert codec.decode(codec.encode(Wedge(0.1)), Wedge) == Wedge(0.1)
    with pytest.raises(UsageError, match="is no dataclass"):
        codec.register(int)


def test_every_kind_the_package_has_is_known():
    """A new domain is registered by being exported."""
    public = [getattr(tb, name) for name in tb.__all__]
    domains = [kind for kind in public if isinstance(kind, type) and issubclass(kind, tb.Domain)]
    domains.remove(tb.Domain)
    assert len(domains) >= 9
    assert {kind.__name__ for kind in domains} <= set(codec._KINDS)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("parts") / "u.safetensors"
    solution = made(tb.random_features(tb.Disk(), 6), tb.Disk(), frozen=True, name="mine")
    return unpack(solution.save(path), FORM)


def _forged(content, tensors):
    content = json.loads(json.dumps(content))
    content.pop("sha256"), content.pop("form")
    return content, dict(tensors)


FORGERIES = {
    "unknown kind": lambda c, t: c["body"].update(kind="os.system"),
    "a domain for a body": lambda c, t: c.update(body=c["problem"]["domain"]),
    "a body for a domain": lambda c, t: c["problem"].update(domain=c["body"]),
    "unknown field": lambda c, t: c["problem"]["domain"].update(command="rm"),
    "impossible radius": lambda c, t: c["problem"]["domain"].update(radius=-1.0),
    "text for a number": lambda c, t: c["problem"]["domain"].update(radius="__import__('os')"),
    "huge array": lambda c, t: c["body"]["layers"][0]["weight"].update(shape=[10**9, 10**9]),
    "negative array": lambda c, t: c["body"]["layers"][0]["weight"].update(shape=[-6, 2]),
    "wrong layers": lambda c, t: c["body"]["layers"][0]["weight"].update(shape=[2, 6]),
    "unknown activation": lambda c, t: c["body"].update(activation="relu"),
    "another shape": lambda c, t: c.update(shape=[3]),
    "text for a shape": lambda c, t: c.update(shape="x"),
    "missing entry": lambda c, t: c.pop("problem"),
    "missing tensor": lambda c, t: t.pop("times"),
    "unordered times": lambda c, t: t.update(times=t["times"][::-1].copy()),
    "fewer times": lambda c, t: t.update(times=t["times"][:2]),
    "no times": lambda c, t: t.update(times=t["times"][:0], heads=t["heads"][:0]),
    "other numbers": lambda c, t: t.update(times=t["times"].astype(np.float32)),
    "NaN among the times": lambda c, t: t.update(times=t["times"] * np.nan),
    "unknown outcome": lambda c, t: c.update(result=["fine", ""]),
    "a history of another length": lambda c, t: t.update({"history": np.zeros((2, 99))}),
}


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_file_is_one_sentence(forgery, parts, tmp_path):
    """Sealed with a good digest, but not by us."""
    content, tensors = _forged(*parts)
    FORGERIES[forgery](content, tensors)
    path = tmp_path / "u.safetensors"
    path.write_bytes(pack(FORM, content, tensors))
    with pytest.raises(CheckpointError, match=r"u\.safetensors") as error:
        tb.load(path)
    assert "\n" not in str(error.value) and error.value.exit_code == 4


def test_the_unforged_file_loads(parts, tmp_path):
    path = tmp_path / "u.safetensors"
    path.write_bytes(pack(FORM, *_forged(*parts)))
    assert tb.load(path).problem.name == "mine"


def test_a_system_without_a_head_row_for_each_component(tmp_path):
    network = with_head(tb.random_features(tb.Disk(), 6).body, 2)
    loaded = tb.load(made(network, tb.Disk(), 2).save(tmp_path / "u.safetensors"))
    assert loaded(np.zeros((3, 2)), 0.5).shape == (3, 2) and loaded.problem.components == 2


def test_what_was_a_number_is_there_after_loading(tmp_path):
    """Equations and conditions come back as themselves, so that flux knows its κ."""
    ends = {"left": tb.Dirichlet(0.0), "right": tb.Robin(1.0, 0.5, lambda x, t: t)}
    source = tb.Source(lambda x: 1.0 + x[0])
    for equation in (tb.Heat(0.1) + source, tb.ReactionDiffusion(0.1, lambda u: 1 - u)):
        problem = tb.Problem(tb.Interval(0.0, 1.0), equation, ends, lambda x: 0.0 * x[0], t_end=0.1)
        solution = tb.solve(problem, rtol=1e-2, throw=False)
        loaded = tb.load(solution.save(tmp_path / "u.safetensors"))
        assert loaded.flux("left", 0.1) == solution.flux("left", 0.1)
        assert loaded.problem.equation.formula == problem.equation.formula
        assert loaded.problem.conditions["left"].coefficients[0].equals(1)
        assert loaded.problem.conditions["right"].formula == "1·u + 0.5·∂ₙu = v(x, t)"
        with pytest.raises(UsageError, match="no Python functions"):
            loaded.problem.equation.rhs(lambda x: x[0], jnp.ones(1), 0.0)


def test_a_problem_of_numbers_alone_is_whole_after_loading(tmp_path):
    system = tb.Problem(
        tb.Disk(1.0),
        tb.Heat([0.1, 0.2]) + tb.Source(1.0),
        {"circle": tb.Dirichlet([1.0, 2.0])},
        [1.0, 2.0],
        t_end=0.1,
    )
    solution = tb.solve(system, rtol=1e-2, throw=False)
    loaded = tb.load(solution.save(tmp_path / "u.safetensors")).problem
    assert type(loaded) is tb.Problem and loaded.explain() == system.explain()
    again = tb.solve(loaded, rtol=1e-2, throw=False)
    x = system.domain.interior(5).x
    np.testing.assert_array_equal(again(x, 0.1), solution(x, 0.1))
