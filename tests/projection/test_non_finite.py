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
INTERIOR, CIRCLE = DOMAIN.interior(30), DOMAIN.boundary("circle", 17)
# At the times 1, 2, 3 the equation, at 11, 12, 13 the condition is spoiled at one point.
POINTS = {1: INTERIOR.x[0], 2: INTERIOR.x[13], 3: INTERIOR.x[-1]}
POINTS |= {11: CIRCLE.x[0], 12: CIRCLE.x[9], 13: CIRCLE.x[-1]}
BAD = {1: np.nan, 2: np.inf, 3: -np.inf, 11: np.nan, 12: np.inf, 13: np.nan}


def spoil(value, x, t, times):
    for time in times:
        value = jnp.where(jnp.all(x == POINTS[time]) & (t == time), BAD[time], value)
    return value


@pytest.fixture(scope="module")
def spoiled():
    problem = Problem(
        DOMAIN,
        lambda u, x, t: spoil(laplacian(u)(x), x, t, (1, 2, 3)),
        {"circle": lambda u, x, normal, t: spoil(u(x), x, t, (11, 12, 13))},
        initial=0.0,
    )
    return Collocation(problem, mlp(DOMAIN, widths=(4,)), INTERIOR, [CIRCLE])


def spelled(time):
    x, y = POINTS[time]
    return f"at t = {time}, x = ({x:.6g}, {y:.6g})"


@pytest.mark.parametrize("time", [1, 2, 3])
def test_in_the_equation(spoiled, time):
    theta = spoiled.parameters.start
    assert np.isfinite(spoiled.rates(theta, time + 0.5)).all()
    with pytest.raises(NonFiniteError) as error:
        spoiled.rates(theta, time)
    assert str(error.value).startswith(
        f"The equation's right-hand side is not finite {spelled(time)}; "
    )


@pytest.mark.parametrize("projection", [SubsetProjection(iterations=1), SeparableProjection(2)])
@pytest.mark.parametrize("time", [11, 12, 13])
def test_in_a_condition(spoiled, time, projection):
    theta, target = spoiled.parameters.start.copy(), np.ones((30, 1))
    kept = theta.copy()
    assert projection.fit(theta, spoiled, target, time + 0.5, (0, 1)).residual < 5
    with pytest.raises(NonFiniteError) as error:
        projection.fit(theta, spoiled, target, time, (0, 1))
    assert str(error.value).startswith(f"The condition on circle is not finite {spelled(time)}; ")
    np.testing.assert_array_equal(theta, kept)
