"""Fields that begin with a layer: data that do not fit together, or a start from zero."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import NonFiniteError
from tengbc.options import options
from tengbc.outcome import Outcome
from tengbc.solver.examine import examine

pytestmark = pytest.mark.filterwarnings("ignore:initial values miss the condition:UserWarning")
CORNER = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)]
HOLE = [(0.3, 0.3), (0.6, 0.3), (0.6, 0.6), (0.3, 0.6)]


FROZEN = {"strategy": "frozen-features", "features": 60}


def cooled_at_once(condition, choices) -> tb.Solution:
    """sin πx meets no condition on its slope at the left end."""
    problem = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.1),
        {"left": condition, "right": tb.Dirichlet(0.0)},
        lambda x: jnp.sin(jnp.pi * x[0]),
    )
    return tb.solve(problem, 0.5, rtol=1e-3, throw=False, **choices)


@pytest.mark.parametrize(
    "condition",
    [
        tb.Robin(lambda x, t: 1.0 + 0.0 * t, 1.0, 0.0),
        lambda u, x, n, t: tb.normal_derivative(u)(x, n) + u(x) + 0.0 * u(x) ** 2,
    ],
    ids=["coefficients of time", "nonlinear"],
)
@pytest.mark.parametrize("choices", [FROZEN, {}], ids=["frozen", "default"])
def test_laws_that_are_iterated_on_come_to_rest_in_spite_of_rounding(condition, choices):
    """The same law, told in a way that has to be iterated: large heads leave much round-off."""
    told = tb.Robin(1.0, 1.0, 0.0), condition
    plain, iterated = (cooled_at_once(law, choices) for law in told)
    assert iterated.result.outcome is not Outcome.DIVERGED
    x = np.linspace(0.0, 1.0, 50)[:, None]
    for t in (0.1, 0.5):
        np.testing.assert_allclose(iterated(x, t), plain(x, t), atol=1e-5)


def on_an_interval(initial, left) -> tb.Problem:
    conditions = {"left": tb.Dirichlet(left), "right": tb.Dirichlet(0.0)}
    return tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(0.1), conditions, initial)


def test_values_that_are_not_finite_on_the_boundary_alone_are_found():
    problem = on_an_interval(lambda x: jnp.where(x[0] > 0.9999, jnp.nan, 0.0), 0.0)
    with pytest.raises(
        NonFiniteError, match=r"initial condition is not finite at t = 0, x = \(1\)"
    ):
        tb.solve(problem, 1.0)
    with pytest.raises(
        NonFiniteError, match=r"condition on left is not finite at t = 0, x = \(0\)"
    ):
        tb.solve(on_an_interval(0.0, lambda x, t: jnp.log(t)), 1.0)


def test_data_that_move_infinitely_fast_at_first_are_no_mistake():
    """√t has no rate at t = 0: a layer, but the values are there."""
    problem = on_an_interval(0.0, lambda x, t: jnp.sqrt(t))
    levels = {finding.level for finding in examine(problem, options(t_end=1.0))}
    assert levels == {"fine", "note"}
    assert tb.solve(problem, 1.0, rtol=1e-2, throw=False, **FROZEN).times[-1] == 1.0
    assert tb.solve(problem, 1.0, rtol=1e-2).times[-1] == 1.0


def test_a_field_that_starts_from_zero_is_not_lost_in_its_first_step():
    """At first u is small everywhere; what counts is what the conditions ask for."""
    domain = tb.Polygon(CORNER, holes=[HOLE])
    conditions = {segment: tb.Robin(1.0, 1.0, 1.0) for segment in domain.segments}
    problem = tb.Problem(domain, tb.Heat(0.1), conditions, 0.0)
    frozen = {"strategy": "frozen-features", "features": 80}
    solution = tb.solve(problem, 1.0, rtol=1e-2, throw=False, **frozen)
    assert solution.result.outcome is Outcome.TOLERANCE_NOT_REACHED
    assert solution.times[-1] == 1.0 and np.isfinite(solution.error_estimate).all()
    solution = tb.solve(problem, 1.0, rtol=1e-2)
    assert solution.result and "disagree by 1.0e+00 at t = 0" in solution.result.message
