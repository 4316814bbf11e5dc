"""NaN or infinity from a user's function: caught at once, function, time and point named."""

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import NonFiniteError
from tengbc.fields import laplacian
from tengbc.geometry import Disk
from tengbc.networks import mlp
from tengbc.problem import Problem
from tengbc.projection import Collocation, SeparableProjection, SubsetProjection

DOMAIN = Disk()
INTERIOR = DOMAIN.interior(30)
CIRCLE = DOMAIN.boundary("circle", 17)
NETWORK = mlp(DOMAIN, widths=(4,))


def rows(spoiled, bad, of_equation=False):
    """The heat equation, spoiled after t = 1 at one point, inside or on the boundary."""

    def spoil(value, x, t):
        return jnp.where(jnp.all(x == spoiled) & (t > 1), bad, value)

    def rhs(u, x, t):
        value = laplacian(u)(x)
        return spoil(value, x, t) if of_equation else value

    def condition(u, x, normal, t):
        return u(x) if of_equation else spoil(u(x), x, t)

    problem = Problem(DOMAIN, rhs, {"circle": condition}, 0.0)
    return Collocation(problem, NETWORK, INTERIOR, [CIRCLE])


def spelled(point):
    return rf"x = \({point[0]:.6g}, {point[1]:.6g}\)".replace("+", r"\+")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("index", [0, 13, -1])
def test_in_the_equation(index, bad):
    spoiled = rows(INTERIOR.x[index], bad, of_equation=True)
    theta = spoiled.parameters.start
    assert np.isfinite(spoiled.rates(theta, 1.0)).all()
    with pytest.raises(NonFiniteError, match=spelled(INTERIOR.x[index])) as error:
        spoiled.rates(theta, 1.5)
    assert "The equation's right-hand side is not finite at t = 1.5" in str(error.value)


@pytest.mark.parametrize("projection", [SubsetProjection(iterations=1), SeparableProjection()])
@pytest.mark.parametrize("index", [0, 9, -1])
def test_in_a_condition(index, projection):
    spoiled = rows(CIRCLE.x[index], np.nan)
    theta, target = spoiled.parameters.start.copy(), np.ones((30, 1))
    kept = theta.copy()
    assert projection.fit(theta, spoiled, target, 0.5, (0, 1)).residual < 5
    with pytest.raises(NonFiniteError, match=spelled(CIRCLE.x[index])) as error:
        projection.fit(theta, spoiled, target, 1.25, (0, 1))
    assert "The condition on circle is not finite at t = 1.25" in str(error.value)
    np.testing.assert_array_equal(theta, kept)
