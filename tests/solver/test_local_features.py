"""Local features on problems that nothing was tuned for: true errors and their estimates."""

import gc
import math
import weakref
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc import costs
from tengbc.spaces.energy import EnergySpace
from tests.faults.cases import chosen, fingerprint, logistic, session
from tests.faults.test_kill_in_process import Killed, killer
from tests.solver.manufactured_problems import errors_at_stored_times, manufactured, worst_error


def corner(x):
    """r^(2/3) sin(2φ/3) around the re-entrant corner of an L, zero on both its sides."""
    angle = jnp.arctan2(x[0], -x[1])  # from the side below, anticlockwise to the one on the left
    angle = jnp.where(angle < 0, angle + 2 * jnp.pi, angle)
    return (x[0] ** 2 + x[1] ** 2 + 1e-300) ** (1 / 3) * jnp.sin(2 / 3 * angle)


def l_shape():
    """u = (2 + sin 2t)·r^(2/3) sin(2φ/3), harmonic in space: its rate is the source."""
    vertices = [(0, 0), (0, -1), (1, -1), (1, 1), (-1, 1), (-1, 0)]
    domain = tb.Polygon(vertices)
    exact = lambda x, t: (2.0 + jnp.sin(2 * t)) * corner(x)
    return tb.Problem(
        domain,
        tb.Heat(0.5) + tb.Source(lambda x, t: 2 * jnp.cos(2 * t) * corner(x)),
        {segment: tb.Dirichlet(exact) for segment in domain.segments},
        lambda x: exact(x, 0.0),
        exact,
    )


def line():
    """A front in one dimension, with a slope given at one end and a law at the other."""
    return manufactured(
        tb.Interval(-0.4, 1.9),
        tb.ReactionDiffusion(0.2, lambda u: u * (1 - u)) + tb.Transport([0.3]),
        {"left": (0.0, 1.0), "right": (1.5, 0.4)},
        lambda x, t: 1.2 + jnp.tanh(6 * (x[0] - 0.3 - 0.5 * t)),
    )


def exchange(u, x, t):
    v, second = u(x), tb.laplacian(u)(x)
    return jnp.stack([0.1 * second[0] - v[0] + v[1] * x[0], 0.3 * second[1] + v[0] - 2 * v[1]])


def system():
    """Two components in a disk with a hole beside its middle."""
    square = [(-1.1, -0.9), (1.0, -0.9), (1.0, 1.2), (-1.1, 1.2)]
    domain = tb.Polygon(square, holes=[tb.Disk(0.35, (0.15, 0.1))])
    laws = {segment: (1.0, 0.0) for segment in domain.segments}
    laws["hole0"] = (0.0, 1.0)

    def exact(x, t):
        return jnp.stack(
            [jnp.sin(1.5 * x[0] + x[1] - t), 1 + jnp.cos(x[0] - 2 * x[1]) * jnp.exp(-t)]
        )

    return manufactured(domain, tb.Equation(exchange), laws, exact)


PROBLEMS = {"l-shape": (l_shape, 1e-3), "line": (line, 1e-5), "system": (system, 1e-4)}


@cache
def solved(name) -> tb.Solution:
    make, rtol = PROBLEMS[name]
    return tb.solve(make(), t_end=0.5, rtol=rtol, strategy="local-features")


@pytest.mark.parametrize("name", PROBLEMS)
def test_errors_and_estimates(name):
    solution, rtol = solved(name), PROBLEMS[name][1]
    assert solution.result
    true, estimate = worst_error(solution), solution.error_estimate.max()
    assert true <= rtol and estimate <= rtol
    assert true / 3 <= estimate <= 10 * true
    each = errors_at_stored_times(solution)
    assert (each <= rtol).all()


def test_fields_are_continuous_to_the_error():
    """Jumps between patches and what the conditions miss, in the L² of the boundaries."""
    solution = solved("system")
    table, domain = (
        solution.parameters.network(solution.thetas[-1]).body.table,
        solution.problem.domain,
    )
    heads = solution.thetas[-1][: 2 * table.unknowns].reshape(2, -1)
    edges = np.unique(np.round(table.centre[:, 0] + table.half[:, 0], 9))
    rng, off = np.random.default_rng(0), np.array([1e-8, 0.0])
    x = np.stack([rng.choice(edges, 400), rng.uniform(-0.85, 1.15, 400)], axis=1)
    x = x[domain.contains(x - off) & domain.contains(x + off)]
    apart = table.locate(x + off) != table.locate(x - off)
    assert apart.sum() > 50
    jump = table.combine(heads, x[apart] + off) - table.combine(heads, x[apart] - off)
    assert np.sqrt(np.mean(jump**2)) <= 3 * PROBLEMS["system"][1]


def test_steps_end_at_the_end_and_stages_are_kept():
    solution = solved("line")
    assert solution.times[-1] == 0.5 and solution.stages in (3, 5)
    assert (len(solution.times) - 1) % solution.stages == 0


def squared(initial) -> tb.Problem:
    """u² = v² at the left end, which has no linear part at u = 0."""
    square = lambda u, x, n, t: u(x) ** 2 - 4.0 * jnp.exp(-t)
    conditions = {"left": square, "right": tb.Neumann(0.0)}
    return tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(0.2), conditions, initial)


@pytest.mark.filterwarnings("ignore:initial values miss the condition:UserWarning")
def test_a_condition_without_a_linear_part_at_zero():
    given = squared(2.0)
    found = tb.solve(given, 0.5, rtol=1e-4)
    conditions = given.conditions | {"left": tb.Dirichlet(lambda x, t: 2.0 * jnp.exp(-t / 2))}
    root = tb.solve(tb.Problem(given.domain, given.equation, conditions, 2.0), 0.5, rtol=1e-4)
    x = np.linspace(0.0, 1.0, 20)[:, None]
    np.testing.assert_allclose(found(x, 0.5), root(x, 0.5), atol=4e-4)
    with pytest.raises(
        tb.ProblemError, match=r"condition on left does not change with u .*frozen-features"
    ):
        tb.solve(squared(0.0), 0.5, rtol=1e-4)


# What it does not solve, it must say.

LINE = tb.Interval(0.0, 1.0)
ENDS = {"left": (1.0, 0.0), "right": (1.0, 0.0)}
wave = lambda x, t: jnp.sin(2 * x[0] + t) + 0.3
pair = lambda x, t: jnp.stack([jnp.sin(2 * x[0] + t), jnp.cos(x[0] - t)])


def quasilinear():
    rate = lambda u, x, t: (1 + u(x) ** 2) * tb.laplacian(u)(x)
    return manufactured(LINE, tb.Equation(rate), ENDS, wave)


def cross_diffusion():
    rate = lambda u, x, t: jnp.array([[1.0, 0.4], [0.3, 1.0]]) @ tb.laplacian(u)(x)
    return manufactured(LINE, tb.Equation(rate), ENDS, pair)


def oblique():
    """A condition on the slope along a direction that is not the normal."""
    domain, exact = tb.Rectangle(), lambda x, t: jnp.sin(x[0] + 2 * x[1] + t)

    def residual(u, x, n, t):
        missed = lambda y: u(y) - exact(y, t)
        along = n + 0.5 * jnp.stack([-n[1], n[0]])
        return jax.grad(missed)(x) @ along + missed(x)

    given = manufactured(domain, tb.Heat(1.0), dict.fromkeys(domain.segments, (1.0, 0.0)), exact)
    conditions = dict.fromkeys(domain.segments, tb.Condition(residual))
    return tb.Problem(domain, given.equation, conditions, lambda x: exact(x, 0.0), exact)


def coupled_condition():
    """∂ₙu + Hu = v with a matrix H that is not diagonal."""
    given = manufactured(LINE, tb.Heat(0.3), ENDS, pair)
    matrix = jnp.array([[1.0, 0.4], [0.3, 1.0]])

    def residual(u, x, n, t):
        missed = lambda y: u(y) - pair(y, t)
        return tb.normal_derivative(missed)(x, n) + matrix @ missed(x)

    conditions = dict.fromkeys(ENDS, tb.Condition(residual))
    return tb.Problem(LINE, given.equation, conditions, given.initial_function, pair)


REFUSED = [quasilinear, cross_diffusion, oblique, coupled_condition]


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_solved_or_refused(make):
    try:
        problem = make()
        solution = tb.solve(problem, problem.t_end or 0.3, rtol=1e-3, strategy="local-features")
    except tb.TengbcError:
        return
    assert worst_error(solution) <= 1e-3


@pytest.mark.parametrize("part", [0.05, 0.8])
def test_a_killed_run_resumes_to_the_same_bits_in_a_new_process(part, tmp_path, monkeypatch):
    """Nothing that a process has in mind, spaces and errors of patches, is needed to go on."""
    run = chosen(
        {"preset": "fast", "strategy": "local-features", "t_end": 0.4, "rtol": 1e-4}, "front"
    )
    undisturbed = session(tmp_path / "undisturbed", run).solution
    assert undisturbed.facts["march"] != "answer 1"  # patches were refined on the way
    steps = len((tmp_path / "undisturbed/history.csv").read_text().splitlines()) - 1
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killer(patch, "step", math.ceil(part * steps))
        session(tmp_path / "run", run)
    resumed = session(tmp_path / "run", run).solution
    assert fingerprint(resumed) == fingerprint(undisturbed)
    assert fingerprint(session(tmp_path / "again", run).solution) == fingerprint(undisturbed)


def test_the_same_problem_twice_gives_the_same_bits():
    problem = logistic()
    first, second = (
        fingerprint(tb.solve(problem, 0.4, rtol=1e-2, strategy="local-features")) for _ in range(2)
    )
    assert first == second


def test_nothing_of_a_solve_outlives_its_solution():
    """Matrices and factorisations go with the task, the rest with the problem."""

    def spaces():
        gc.collect()
        return sum(isinstance(thing, EnergySpace) for thing in gc.get_objects())

    problem, before = logistic(), spaces()
    solution = tb.solve(problem, 0.4, rtol=1e-2, strategy="local-features")
    assert spaces() == before
    known = weakref.ref(problem)
    del problem, solution
    gc.collect()
    assert known() is None


def test_patches_that_do_not_fit_into_the_machine_are_refused(monkeypatch):
    """Initial values that need a thousand patches, on a machine that has no room for them."""
    problem = tb.Problem(
        domain=tb.Rectangle((0, 0), (1, 1)),
        equation=tb.Heat(1e-4),
        conditions={s: tb.Neumann(0.0) for s in ("left", "right", "bottom", "top")},
        initial=lambda x: jnp.cos(40 * jnp.pi * x[0]) * jnp.cos(40 * jnp.pi * x[1]),
        t_end=1.0,
    )
    room = costs.BASE + 0.05 * costs.GIGABYTE
    monkeypatch.setattr(costs, "machine_memory", lambda: room)
    with pytest.raises(tb.UsageError, match=r"GB of memory.*lower the number of digits"):
        tb.solve(problem, strategy="local-features", rtol=1e-3)
