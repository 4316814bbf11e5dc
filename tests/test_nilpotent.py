"""Derivatives by numbers whose squares vanish, against JAX's own."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.programs import Vectorised
from tengbc.programs.vectorised import _nested

POINTS = np.random.default_rng(3).uniform(0.2, 0.9, (7, 2))
TIME = 0.3
DIRECTIONS = (
    (np.array([0.6, -0.8]), None),
    (np.array([0.6, -0.8]), None),
    (np.random.default_rng(4).normal(size=(7, 2)), 1.7),
)
FUNCTIONS = {
    "polynomial": lambda x, t: (1 - jnp.sum(x**2)) ** 5 * t + x[0] ** 3,
    "rational": lambda x, t: (x[0] + t) / (1 + x[1] ** 2 + t),
    "exp": lambda x, t: jnp.exp(-4 * jnp.sum((x - 0.4) ** 2) / (1 + t)),
    "waves": lambda x, t: jnp.sin(3 * x[0] + x[1] * t) * jnp.cos(2 * x[1] - t),
    "tan": lambda x, t: jnp.tan(0.5 * x[0] * x[1] + 0.1 * t),
    "logarithms": lambda x, t: jnp.log(x[0] + t) * jnp.log1p(x[1] * t),
    "hyperbolic": lambda x, t: jnp.sinh(x[0] * t) + jnp.cosh(x[1]) * jnp.tanh(2 * x[0] - t),
    "logistic": lambda x, t: jax.nn.sigmoid(3 * x[0] - x[1] * t) + jnp.expm1(x[0] * t),
    "roots": lambda x, t: jnp.sqrt(x[0] + x[1] ** 2) / jax.lax.rsqrt(x[1] + t),
    "powers": lambda x, t: (x[0] + t) ** 1.7 + jnp.square(x[1]) ** -2,
    "angle": lambda x, t: jnp.arctan(x[0] * x[1] / (x[0] + t)) + jnp.abs(x[0] - 0.5 * x[1]),
    "pieces": lambda x, t: jnp.where(x[0] > 0.5, x[0] ** 2 * t, jnp.sin(x[1])),
    "larger": lambda x, t: jnp.maximum(x[0] ** 2, x[1] * t) + jnp.minimum(x[0], jnp.exp(-x[1])),
    "vector": lambda x, t: jnp.stack([x[0] * t, jnp.dot(x, x)]) @ jnp.array([[1.0, 2], [0, 3]]),
    "matrix": lambda x, t: jnp.linalg.norm(jnp.outer(x, jnp.flip(x)) + t),
    "steps": lambda x, t: jnp.floor(4 * x[0]) * x[1] + jnp.cumsum(x**2)[1],
}


def keys_and_pairs(function, directions):
    """By our numbers, and by JAX, for each set of directions."""
    found = Vectorised(function, (0, None)).along((POINTS, TIME), *directions)
    whole = tuple(
        (np.broadcast_to(dx, POINTS.shape), np.float64(0.0 if dt is None else dt))
        for dx, dt in directions
    )
    with jax.enable_x64(True):
        truth = _nested(jax.vmap(function, (0, None)))((POINTS, np.float64(TIME)), whole)
    assert found.keys() == truth.keys() == set(range(1 << len(directions)))
    return [(key, found[key], np.asarray(truth[key])) for key in found]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_derivatives_up_to_the_third_are_those_of_jax(name):
    for count in (1, 2, 3):
        for key, ours, theirs in keys_and_pairs(FUNCTIONS[name], DIRECTIONS[:count]):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11, err_msg=f"{key:b}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jax_is_not_asked(name, monkeypatch):
    monkeypatch.setattr(Vectorised, "_by_jvp", None)
    Vectorised(FUNCTIONS[name], (0, None)).along((POINTS, TIME), *DIRECTIONS)


@jax.custom_jvp
def declared(x):
    return x**2


@declared.defjvp
def _(primals, tangents):
    return declared(primals[0]), 10.0 * tangents[0]


OTHERS = {
    "own derivative": lambda x, t: declared(x[0]) * t,
    "no rule": lambda x, t: jax.scipy.special.erf(x[0] * t),
    "loop": lambda x, t: jax.lax.fori_loop(0, 3, lambda k, s: s * x[0], t),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_has_no_rule_is_left_to_jax(name):
    for _, ours, theirs in keys_and_pairs(OTHERS[name], DIRECTIONS[:2]):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_powers_at_zero():
    """xⁿ has finite derivatives at x = 0, where x to a negative power has none."""
    zero = np.zeros((3, 1))
    for power, order in itertools.product(range(5), (1, 2, 3)):
        function = lambda x, t, p=power: x[0] ** p + t
        found = Vectorised(function, (0, None)).along((zero, 0.5), *[(np.ones(1), None)] * order)
        expected = 1.0 * np.prod(np.arange(1, power + 1)) if order == power else 0.0
        np.testing.assert_array_equal(found[(1 << order) - 1], np.full(3, expected))
