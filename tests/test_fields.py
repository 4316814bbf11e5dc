"""Differential operators against derivatives worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.fields import (
    directional_derivative,
    divergence,
    gradient,
    laplacian,
    normal_derivative,
)

POINTS = np.random.default_rng(0).uniform(-1, 1, (50, 3))
TOLERANCE = 1e-12


def scalar(x):
    return jnp.exp(x[0]) * jnp.sin(2 * x[1]) + x[2] ** 3 * x[0]


def scalar_gradient(x):
    e, s, c = np.exp(x[0]), np.sin(2 * x[1]), np.cos(2 * x[1])
    return np.array([e * s + x[2] ** 3, 2 * e * c, 3 * x[2] ** 2 * x[0]])


def scalar_laplacian(x):
    return np.exp(x[0]) * np.sin(2 * x[1]) * (1 - 4) + 6 * x[2] * x[0]


def vector(x):
    return jnp.stack([x[0] ** 2 * x[1], jnp.cos(x[1] * x[2]), x[0] * x[2] ** 4])


def vector_jacobian(x):
    s = np.sin(x[1] * x[2])
    return np.array(
        [
            [2 * x[0] * x[1], x[0] ** 2, 0],
            [0, -x[2] * s, -x[1] * s],
            [x[2] ** 4, 0, 4 * x[0] * x[2] ** 3],
        ]
    )


def vector_laplacian(x):
    c = np.cos(x[1] * x[2])
    return np.array([2 * x[1], -(x[1] ** 2 + x[2] ** 2) * c, 12 * x[0] * x[2] ** 2])


def close(function, expected):
    found = jax.jit(jax.vmap(function))(POINTS)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, [expected(x) for x in POINTS], rtol=0, atol=TOLERANCE)


def test_scalar_field_in_three_dimensions():
    close(gradient(scalar), scalar_gradient)
    close(laplacian(scalar), scalar_laplacian)


def test_vector_field_in_three_dimensions():
    close(gradient(vector), vector_jacobian)
    close(laplacian(vector), vector_laplacian)
    close(divergence(vector), lambda x: np.trace(vector_jacobian(x)))


def test_components_need_not_match_dimensions():
    close(laplacian(lambda x: vector(x)[:2]), lambda x: vector_laplacian(x)[:2])
    close(gradient(lambda x: vector(x)[1:]), lambda x: vector_jacobian(x)[1:])


def test_derivative_along_a_direction():
    normal = np.array([0.6, 0.0, -0.8])
    close(lambda x: normal_derivative(scalar)(x, normal), lambda x: scalar_gradient(x) @ normal)
    close(lambda x: normal_derivative(vector)(x, normal), lambda x: vector_jacobian(x) @ normal)
    # A direction is not normalised: twice the speed, twice the rate.
    close(
        lambda x: directional_derivative(scalar)(x, 2 * normal),
        lambda x: scalar_gradient(x) @ (2 * normal),
    )


def test_one_dimension():
    x = np.array([0.3])
    assert gradient(lambda y: y[0] ** 3)(x).shape == (1,)
    np.testing.assert_allclose(gradient(lambda y: y[0] ** 3)(x), [0.27], atol=TOLERANCE)
    np.testing.assert_allclose(laplacian(lambda y: y[0] ** 3)(x), 1.8, atol=TOLERANCE)
    np.testing.assert_allclose(divergence(lambda y: y**3)(x), 0.27, atol=TOLERANCE)
    assert float(normal_derivative(lambda y: y[0] ** 3)(x, np.array([-1.0]))) == pytest.approx(
        -0.27
    )


def test_divergence_of_gradient_is_laplacian():
    close(divergence(gradient(scalar)), scalar_laplacian)


def test_whole_numbered_points():
    assert float(laplacian(lambda x: jnp.sum(x**2))(np.array([1, 2]))) == 4.0


@pytest.mark.parametrize("field", [scalar, lambda x: vector(x)[:2]])
def test_divergence_refuses_what_has_none(field):
    with pytest.raises(UsageError, match="as many components as dimensions"):
        divergence(field)(POINTS[0])
