"""Traced functions run by NumPy: the same numbers as XLA's, and nothing compiled."""

import jax
import jax.numpy as jnp
import jax.scipy.special as jss
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from jax import lax

import tengbc as tb
from tengbc.equations.local import local_rate
from tengbc.pointwise import Evaluator
from tengbc.programs import Vectorised
from tengbc.timing import compile_clock

TABLE = np.array([0.3, -1.0, 2.5, 0.1, 4.0])
KNOTS = np.linspace(-2.0, 2.0, 5)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-9, 1e9, 1e300, -1e300]
SPECIAL += [np.inf, -np.inf, np.nan, 2.0**31, 2.0**63, -(2.0**63), 1e-300, np.pi, 700.0, -700.0]


def agree(function, *arguments, in_axes=0, rtol=1e-13):
    """Compare with XLA, types and shapes too."""
    by_numpy = Vectorised(function, in_axes)
    mapped = function if in_axes is None else jax.vmap(function, in_axes)
    expected, tree = jax.tree.flatten(jax.jit(mapped)(*arguments))
    for _ in range(3):  # traced, compared with the last time, taken from it
        found, same = jax.tree.flatten(by_numpy(*arguments))
        assert same == tree
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.dtype == theirs.dtype
            scale = np.max(np.abs(theirs), initial=0.0, where=np.isfinite(theirs))
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * float(scale) + 1e-15)
    assert not by_numpy.missing


def index(x):
    return jnp.clip(jnp.floor(x[0]).astype(int) + 2, 0, 4)


FUNCTIONS = {
    "polynomial": lambda x: 1 + x[0] ** 2 - 3 * x[1] ** 5 + x[2] ** -2 + (x**0).sum(),
    "where": lambda x: jnp.where(x > 0, jnp.exp(-x), 1.0 - x).sum(),
    "safe division": lambda x: jnp.where(x[0] == 0, 1.0, jnp.sin(x[0]) / x[0]),
    "interp": lambda x: jnp.interp(x[0], KNOTS, TABLE),
    "table": lambda x: jnp.asarray(TABLE)[index(x)],
    "table past the end": lambda x: jnp.asarray(TABLE)[index(x) * 3 - 4],
    "table, filled": lambda x: jnp.asarray(TABLE).at[index(x) * 3].get(mode="fill"),
    "table in two axes": lambda x: jnp.outer(TABLE, KNOTS)[index(x), index(x[1:])],
    "rows of a table": lambda x: jnp.outer(TABLE, KNOTS)[:, index(x)],
    "several of a table": lambda x: jnp.asarray(TABLE)[jnp.array([0, 3])] * x[0],
    "own entries": lambda x: x[jnp.argmax(jnp.abs(x))] + x[jnp.argmin(x)] + x[-1] + x[::2].sum(),
    "dynamic slice": lambda x: lax.dynamic_slice(x, (index(x),), (2,)),
    "piecewise": lambda x: jnp.piecewise(x[0], [x[0] < 0, x[0] > 1], [0.0, 1.0, lambda z: z]),
    "select": lambda x: jnp.select([x[0] > 1, x[0] > 0], [x[1], x[2]], 0.5),
    "cond": lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x[1]),
    "switch": lambda x: lax.switch(index(x), [jnp.sin, jnp.cos, jnp.exp], x[1]),
    "fori": lambda x: lax.fori_loop(0, 5, lambda i, c: c * x[0] + i, 0.0),
    "while": lambda x: lax.while_loop(
        lambda c: c[0] < 10 * x[0], lambda c: (c[0] + 1, 0.9 * c[1]), (0.0, x)
    ),
    "scan": lambda x: lax.scan(lambda c, y: (c + y * x[0], c * y), 0.0, jnp.asarray(TABLE)),
    "scan, reversed": lambda x: lax.scan(lambda c, y: (c * y, c), x[1], x, reverse=True),
    "map": lambda x: lax.map(lambda y: jnp.sin(y) * x[0], x),
    "norm": lambda x: jnp.linalg.norm(x) + jnp.linalg.norm(x, 1) + jnp.linalg.norm(x, jnp.inf),
    "hypot": lambda x: jnp.hypot(x[0], x[1]) + jnp.arctan2(x[1], x[0]),
    "clip": lambda x: jnp.clip(x, -0.5, 0.5),
    "mod": lambda x: jnp.mod(x, 0.7) + jnp.fmod(x, 0.7) + jnp.floor_divide(x, 0.3),
    "integers": lambda x: (index(x) - 2) // 3 + (index(x) - 2) % 3 + jnp.sign(index(x) - 2),
    "round": lambda x: jnp.round(3 * x) + jnp.trunc(x) + jnp.ceil(x) + lax.round(3 * x),
    "matrices": lambda x: (jnp.outer(x, x) @ np.arange(9.0).reshape(3, 3)) @ x + x @ x,
    "batches": lambda x: jnp.einsum("i,ij,kj->ik", x, jnp.outer(x, x), np.ones((2, 3))),
    "constants": lambda x: jnp.array([1.0, 2.0, 3.0]) * x + jnp.linspace(0, 1, 3) + jnp.arange(3),
    "single precision": lambda x: (x.astype(jnp.float32) + jnp.float32(0.1)).astype(float),
    "grad": jax.grad(lambda x: jnp.prod(jnp.sin(x)) + jnp.max(x) + jnp.linalg.norm(x)),
    "hessian": jax.hessian(lambda x: jnp.exp(-(x @ x)) * x[0]),
    "grad of a table": jax.grad(lambda x: (jnp.stack([x[0], x[1]])[index(x) % 2]) ** 2),
    "grad of interp": jax.grad(lambda x: jnp.interp(x[0], KNOTS, TABLE)),
    "jacobian": jax.jacrev(lambda x: jnp.concatenate([jnp.sort(x), jnp.cumsum(x)])),
    "set and add": lambda x: x.at[1].set(3.0).at[jnp.array([0, 0, 2])].add(x),
    "drop": lambda x: x.at[index(x)].set(7.0, mode="drop"),
    "sorting": lambda x: (jnp.sort(x), jnp.argsort(x), jnp.median(x)),
    "running": lambda x: (
        jnp.cumsum(x),
        jnp.cumprod(x),
        lax.cummax(x),
        lax.cumsum(x, reverse=True),
    ),
    "shapes": lambda x: jnp.pad(jnp.roll(jnp.flip(x.reshape(3, 1)), 1).T, ((1, 0), (0, 2))),
    "splits": lambda x: sum(p.sum() * k for k, p in enumerate(jnp.split(jnp.tile(x, 2), 3))),
    "logic": lambda x: jnp.all(x > 0) | ~jnp.any(x > 1) ^ jnp.isnan(x[0]),
    "polyval": lambda x: jnp.polyval(jnp.asarray(TABLE), x[0]) + jnp.trapezoid(x),
    "bumps": lambda x: jax.nn.relu(x) + jax.nn.softplus(x) + jax.nn.sigmoid(x) + jnp.sinc(x),
    "logsumexp": lambda x: jss.logsumexp(x) + jax.nn.softmax(x)[0] + jnp.logaddexp(x[0], x[1]),
    "special": lambda x: (jss.erf(x), jss.erfc(x), jss.i0(x), jss.i1(x), jss.i0e(x)),
    "gamma": lambda x: jss.gammaln(jnp.abs(x) + 0.1) + jss.digamma(jnp.abs(x) + 0.1),
    "roots": lambda x: jnp.cbrt(x) + jnp.sqrt(jnp.abs(x)) + jnp.abs(x) ** 1.5 + lax.rsqrt(x**2),
    "hyperbolic": lambda x: jnp.sinh(x) + jnp.tanh(x) + jnp.arcsinh(x) + jnp.expm1(x) / jnp.cosh(x),
    "reductions": lambda x: x.sum() + x.prod() + x.max() - x.min() + x.mean() + x.var(),
    "nothing of x": lambda x: jnp.sin(2.0),
    "two results": lambda x: {"a": x[0], "b": (x[1] > 0, jnp.zeros(2))},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_as_users_write_them(name):
    x = 1.5 * np.random.default_rng(1).normal(size=(40, 3))
    agree(FUNCTIONS[name], x, rtol=1e-12)


ONE = (jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.exp, jnp.exp2, jnp.expm1)
ONE += (jnp.log, jnp.log1p, jnp.sqrt, jnp.cbrt, jnp.square, jnp.floor, jnp.ceil, jnp.abs, lax.neg)
ONE += (jnp.sign, lax.round, jnp.rint, lax.rsqrt, lax.logistic, jnp.isfinite, jnp.arcsin)
ONE += (jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arccosh, jnp.arctanh, jss.erf, jss.erfc)
ONE += (jss.i0e, jss.i1e, jss.gammaln, jss.digamma, lax.erf_inv)
ONE += tuple(lambda x, t=t: x.astype(t) for t in (bool, "i4", "i8", "u4", "u8", "f4", "i1"))
ONE += tuple(lambda x, k=k: lax.integer_pow(x, k) for k in range(-3, 6))
ONE += (lambda x: lax.clamp(-1.0, x, 2.0), lambda x: jnp.where(x, 1.0, x))
TWO = (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.pow, lax.atan2)
TWO += (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge, lax.nextafter)
WHOLE = (lax.div, lax.rem, lax.add, lax.mul, lax.max, lax.bitwise_and, lax.bitwise_xor, lax.lt)
floats = arrays(
    float, 12, elements=st.one_of(st.floats(allow_subnormal=False), st.sampled_from(SPECIAL))
)
integers = arrays(
    np.int64, 12, elements=st.one_of(st.integers(-9, 9), st.integers(-(2**63), 2**63 - 1))
)


def same_number(function, *arguments):
    """As XLA has it; numbers below 1e-300 count as zero, since XLA rounds subnormal ones to it."""
    ours = Vectorised(function, None)(*arguments)
    theirs = np.asarray(jax.jit(function)(*arguments))
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize("function", ONE)
@given(x=floats)
@example(x=np.array(SPECIAL))
def test_numbers_one_by_one(function, x):
    same_number(function, x)


@pytest.mark.parametrize("function", TWO)
@given(x=floats, y=floats)
def test_numbers_in_pairs(function, x, y):
    same_number(function, x, y)
    every = np.meshgrid(SPECIAL, SPECIAL)
    same_number(function, *every)


@pytest.mark.parametrize("function", WHOLE)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint32])
@given(x=integers, y=integers)
def test_integers_in_pairs(function, kind, x, y):
    same_number(function, x.astype(kind), y.astype(kind))


@pytest.mark.parametrize("name", tb.problems.names())
def test_everything_in_the_problems_of_the_catalogue(name):
    problem = tb.problems.get(name)
    x, t = problem.domain.interior(50).x, 0.1
    agree(problem.initial_function, x, rtol=1e-12)
    if problem.exact_function is not None:
        agree(problem.exact_function, x, t, in_axes=(0, None), rtol=1e-12)
    field = lambda x: (2 + jnp.sin(3 * x[0])) * problem.initial_function(x) + 1 + x[0]
    for points in (problem.domain.boundary(segment, 20) for segment in problem.domain.segments):
        law = problem.conditions[points.segment]
        agree(
            lambda x, n, t, law=law: law.residual(field, x, n, t),
            *(points.x, points.normal, t),
            in_axes=(0, 0, None),
            rtol=1e-12,
        )
        for c in law.coefficients or ():
            agree(c, points.x, t, in_axes=(0, None))


EQUATIONS = {
    "heat": tb.Heat(lambda x, t: 1 + x[0] ** 2 * t),
    "heat by a tensor": tb.Equation(lambda u, x, t: jnp.sum(jax.hessian(u)(x) * np.ones((2, 2)))),
    "transport": tb.Transport(lambda x: jnp.array([-x[1], x[0]])),
    "reaction": tb.Heat(0.1) + tb.Reaction(lambda u: u - u**3) + tb.Source(lambda x, t: x[0] * t),
    "a user's": tb.Equation(
        lambda u, x, t: tb.divergence(lambda y: u(y) ** 2 * tb.gradient(u)(y))(x) + jnp.tanh(u(x))
    ),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_local_rates_and_their_derivatives(name):
    rng = np.random.default_rng(2)
    arguments = (
        *(rng.normal(size=(30, *[2] * k)) for k in (0, 1, 2)),
        rng.normal(size=(30, 2)),
        0.3,
    )
    rate, points = local_rate(EQUATIONS[name]), (0, 0, 0, 0, None)
    agree(rate, *arguments, in_axes=points)
    agree(jax.jacfwd(rate, (0, 1, 2)), *arguments, in_axes=points)
    several = [np.stack([part, 2 * part]) for part in arguments[:3]]
    times = (0, 0, 0, None, 0)
    agree(jax.vmap(rate, points), *several, arguments[3], np.array([0.1, 0.2]), in_axes=times)


def test_nothing_is_compiled_on_the_way_to_a_value():
    before = compile_clock.programs
    problem = tb.Problem(
        tb.Disk(1.0),
        tb.Heat(lambda x: 1 + x[0] ** 2) + tb.Source(lambda x, t: jnp.sin(x[0] - t)),
        {"circle": tb.Robin(1.0, 2.0, lambda x, t: jnp.exp(-t) * jnp.interp(x[0], KNOTS, TABLE))},
        lambda x: jnp.where(x[0] > 0, jnp.cos(x @ x), 1.0),
        exact=lambda x, t: jnp.exp(-t) * jnp.cos(jnp.linalg.norm(x)),
    )
    for count in (1, 30, 300):
        x = problem.domain.interior(count).x
        problem.initial(x)
        problem.exact(x, 0.5)
        for part in problem.conditions["circle"].coefficients:
            Evaluator(part, 2)(x, 0.5)
    assert not [finding for finding in problem_findings(problem) if finding.level == "error"]
    assert compile_clock.programs == before


def problem_findings(problem):
    from tengbc.options import Options
    from tengbc.solver.examine import examine

    return examine(problem, Options(), thorough=False)


def test_one_trace_serves_all_numbers_of_points():
    traced = []
    function = Vectorised(lambda x, t: (traced.append(x.shape), jnp.sum(x) * t)[1], (0, None))
    for n in (5, 1, 7, 5):
        np.testing.assert_array_equal(function(np.ones((n, 2)), 0.5), np.ones(n))
    assert traced == [(2,)]
    assert function(np.ones((0, 2)), 0.5).shape == (0,)
    assert function(np.ones((4, 3)), 0.5).shape == (4,)


def test_what_does_not_change_is_computed_once(monkeypatch):
    from tengbc.programs import elementwise

    calls = []
    slow = lambda x: (calls.append("exp"), np.exp(x))[1]
    monkeypatch.setitem(elementwise.ELEMENTWISE, "exp", slow)
    function = Vectorised(lambda x, t: jnp.exp(x[0]) * jnp.sin(t), (0, None))
    x = np.arange(6.0).reshape(3, 2)
    expected = lambda x, t: np.exp(x[:, 0]) * np.sin(t)
    for t in (0.1, 0.2, 0.3, 0.4, 0.5):
        np.testing.assert_allclose(function(x, t), expected(x, t), rtol=1e-15)
    assert len(calls) == 2  # when it was new, and when it was seen to come again
    x[1, 0] = 7.0  # in place: it is the same array with other numbers
    for t in (0.5, 0.6, 0.6, 0.6, 0.7):
        np.testing.assert_allclose(function(x, t), expected(x, t), rtol=1e-15)
    x[1, 0] = -0.0
    assert np.signbit(Vectorised(lambda x, t: x[0] * t, (0, None))(x, 1.0)[1])


def test_results_are_ones_own():
    function = Vectorised(lambda x: (x, jnp.ones(2), x[0]))
    x = np.ones((3, 2))
    for _ in range(3):
        for part in function(x):
            part += 1.0  # changes neither x nor the next result
    for part in function(x):
        np.testing.assert_array_equal(part, 1.0)


def test_results_of_threads_do_not_mix():
    from concurrent.futures import ThreadPoolExecutor

    function = Vectorised(lambda x, t: jnp.exp(x[0]) * t, (0, None))

    def ask(k):
        x = np.full((50, 1), float(k % 3))
        return np.allclose(function(x, float(k)), np.exp(k % 3) * k)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(200)))


UNKNOWN = {
    "eigenvalues": lambda x: jnp.linalg.eigvalsh(jnp.outer(x, x))[0],
    "complex": lambda x: jnp.abs(jnp.exp(1j * x[0]) + x[1]),
    "random": lambda x: x[0] * jax.random.normal(jax.random.key(1)),
    "gamma at a pole": lambda x: jss.digamma(-x[0]),
    "long loop": lambda x: lax.fori_loop(0, 20_000, lambda i, c: 0.5 * c + x[0], 0.0),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_numpy_has_no_word_for_is_compiled(name):
    function = Vectorised(UNKNOWN[name])
    x = np.arange(1.0, 7.0).reshape(3, 2)
    for _ in range(2):
        np.testing.assert_allclose(function(x), jax.vmap(UNKNOWN[name])(x), rtol=1e-12)
    assert function.missing


def test_an_operation_that_only_has_the_name_is_not_taken_for_the_real_one():
    from jax.extend.core import Primitive
    from jax.interpreters import batching, mlir

    false_sin = Primitive("sin")
    false_sin.def_abstract_eval(lambda x: x)
    batching.defvectorized(false_sin)
    mlir.register_lowering(false_sin, mlir.lower_fun(lambda x: x + 1.0, multiple_results=False))
    function = Vectorised(lambda x: false_sin.bind(x))
    np.testing.assert_array_equal(function(np.ones(3)), 2.0)
    assert function.missing


def test_mistakes_are_reported_by_jax():
    with pytest.raises(TypeError, match="unsupported operand"):
        Vectorised(lambda x: x + "a")(np.ones(3))
    with pytest.raises(ValueError, match="inconsistent sizes"):
        Vectorised(lambda x, y: x + y)(np.ones(3), np.ones(4))


def test_float64_whatever_jax_is_set_to():
    with jax.enable_x64(False):
        found = Vectorised(lambda x, t: jnp.sum(x) * t, (0, None))(np.full((2, 1), 0.1), 1.0)
        assert not jax.config.jax_enable_x64
    assert found.dtype == np.float64 and found[0] == 0.1
