"""Rates and matrices from features' derivatives against the equation itself and its derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.geometry import Ball, Disk, Interval
from tengbc.networks import Parameters, random_features
from tengbc.spaces.linear import LinearSpace
from tengbc.spaces.operators import FeatureDerivatives
from tests.networks.cases import some_theta


def exotic(u, x, t):
    """Values, slopes, mixed second derivatives, space and time, none of them linear."""
    value, slope, bend = u(x), jax.grad(u)(x), jax.hessian(u)(x)
    return jnp.sin(value) * slope[0] + bend[0, -1] * value + x[0] * jnp.exp(-t) * slope[-1] ** 2


def system(u, x, t):
    slope = tb.gradient(u)(x)
    return jnp.stack([u(x)[1] * slope[0, 0], tb.laplacian(u)(x)[0] - u(x)[1] ** 3 + t])


CASES = {
    "burgers-1d": (Interval(-1.0, 2.0), tb.Burgers(0.1), 0),
    "exotic-2d": (Disk(), tb.Equation(exotic), 0),
    "allen-cahn-3d": (Ball(), tb.AllenCahn(0.1), 0),
    "system-2d": (Disk(), tb.Equation(system), 2),
}


@pytest.mark.parametrize("name", CASES)
def test_rates_and_matrix_are_those_of_the_equation(name):
    domain, equation, components = CASES[name]
    start = (lambda x: jnp.zeros(components)) if components else (lambda x: 0.0)
    zero = tb.Dirichlet(start if components else 0.0)
    problem = tb.Problem(domain, equation, dict.fromkeys(domain.segments, zero), start)
    parameters = Parameters(random_features(domain, 12, components, seed=2))
    theta = some_theta(parameters)
    x = domain.interior(9, seed=1).x
    known = FeatureDerivatives(problem, parameters, x)
    known.place(theta, x)
    heads = np.stack([theta[parameters.head], -0.5 * theta[parameters.head]])
    times = np.array([0.3, 1.1])

    def rate(head, point, t):
        whole = jnp.concatenate([theta[: parameters.head.start], head])
        return jnp.atleast_1d(equation.rhs(parameters.network(whole), point, t))

    with jax.enable_x64(True):
        at_points = jax.vmap(rate, in_axes=(None, 0, None))
        expected = np.stack([at_points(h, x, t) for h, t in zip(heads, times, strict=True)])
        slopes = np.asarray(jax.jacfwd(at_points)(heads[0], x, 0.3))
        direct = np.asarray(jax.vmap(parameters.network(theta))(x)).reshape(len(x), -1)
    found = known.rates(heads, times)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    values = known.values() @ heads[0]
    np.testing.assert_allclose(values, direct, rtol=0, atol=1e-12 * np.abs(direct).max())
    matrix = known.matrix(heads[0], 0.3)
    np.testing.assert_allclose(matrix, slopes, rtol=0, atol=1e-12 * np.abs(slopes).max())


def test_third_derivatives_take_the_general_way():
    """u_t = −u·u_xxx: no second derivative knows it, and the space still does."""

    def third(u, x, t):
        along = lambda s: u(jnp.stack([s]))
        return -u(x) * jax.grad(jax.grad(jax.grad(along)))(x[0])

    domain = Interval(0.0, 1.0)
    conditions = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    problem = tb.Problem(domain, tb.Equation(third), conditions, lambda x: x[0])
    ends = [domain.boundary(name, 1) for name in domain.segments]
    space = LinearSpace(problem, random_features(domain, 10), domain.interior(24), ends)
    assert space.operators.derivatives is None
    c = np.linspace(0.1, 1, space.unknowns)
    space.linearise(0.0, c)
    expected = space.collocation.rates(space.theta(c), 0.0)
    np.testing.assert_allclose(space.rates(space.theta(c), 0.0), expected, rtol=1e-9)
