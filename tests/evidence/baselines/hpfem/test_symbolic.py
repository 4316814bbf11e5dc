"""Functions translated for NGSolve: the same values as JAX's; skipped without NGSolve."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.baselines.hpfem.symbolic import Formula, coefficient_function, is_number

FUNCTIONS = {
    "arithmetic": lambda x, t: (x[0] - 2 * x[1]) / (3 + t) - x[0] ** 3 + 1 / (1 + x[1]) ** 2,
    "functions": lambda x, t: (
        jnp.exp(-x[0]) * jnp.sin(3 * x[1]) + jnp.sqrt(x[0] + t) + jnp.log1p(t)
    ),
    "hyperbolic": lambda x, t: jnp.tanh(40 * (x[0] - 0.4)) + jnp.sinh(x[1]) * jnp.cosh(x[0]),
    "choices": lambda x, t: jnp.where((x[0] > 0.3) & ~(x[1] >= 0.6) | (t > 2), x[1], -1.0),
    "vectors": lambda x, t: jnp.sum((x - jnp.array([0.2, 0.1]) * t) ** 2) + jnp.linalg.norm(x),
    "matrices": lambda x, t: (
        jnp.dot(np.arange(6.0).reshape(3, 2) @ x, jnp.ones(3)) + jnp.max(x) - jnp.min(2 * x)
    ),
    "angles": lambda x, t: jnp.arctan2(x[1], x[0]) + jnp.abs(x[0] - x[1]) + jnp.minimum(x[0], t),
    "derivative": lambda x, t: jax.grad(lambda y: y[0] ** 2 * jnp.sin(y[1]) + y[1] ** 1.5)(x)[1],
}


@pytest.fixture
def ngsolve():
    return pytest.importorskip("ngsolve")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_the_function(name, ngsolve):
    from ngsolve import unit_square

    mesh = ngsolve.Mesh(unit_square.GenerateMesh(maxh=0.5))
    clock = ngsolve.Parameter(0.7)
    place = np.array([ngsolve.x, ngsolve.y], dtype=object)
    function = FUNCTIONS[name]
    found = coefficient_function(Formula(function, (2,), ())(place, np.array(clock, dtype=object)))
    points = np.random.default_rng(3).uniform(0.05, 0.95, (40, 2))
    values = np.ravel(found(mesh(*(np.ascontiguousarray(column) for column in points.T))))
    with jax.enable_x64(True):
        expected = [float(function(jnp.array(x), 0.7)) for x in points]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)


def test_what_depends_on_time_alone_is_a_number(ngsolve):
    place = np.array([ngsolve.x, ngsolve.y], dtype=object)
    value = Formula(lambda x, t: jnp.where(t < 0.5, jnp.sin(t), 2.0), (2,), ())(place, 0.25)
    assert is_number(value) and float(value) == pytest.approx(np.sin(0.25), rel=1e-14)


def test_an_operation_without_a_counterpart_is_refused(ngsolve):
    place = np.array([ngsolve.x, ngsolve.y], dtype=object)
    with pytest.raises(tb.UsageError, match="no counterpart"):
        Formula(lambda x: jnp.sort(x)[0], (2,))(place)
