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
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * float(scale))
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
