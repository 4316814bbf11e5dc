"""Initial values against conditions: g(u₀) and its rate, by coefficients and by tracing the law."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.solver.compatibility import mismatches
from tengbc.solver.sampling import boundary_points

DOMAIN = tb.Rectangle((0.0, 0.0), (1.0, 2.0))
LAWS = {
    "left": tb.Dirichlet(lambda x, t: jnp.exp(t) * x[1]),
    "right": tb.Neumann(lambda x: x[1] ** 2),
    "bottom": tb.Robin(2.0, -0.5, 0.7),
    "top": tb.Robin(1.0, 3.0, lambda x, t: jnp.sin(3 * t + x[0])),
}
EQUATIONS = {
    "plain": tb.Heat(0.3) + tb.Transport([1.0, -2.0]) + tb.Source(4.0),
    "no source": tb.Heat(0.3),
    "source": tb.Heat(0.3) + tb.Source(lambda x, t: jnp.cos(t) * x[0] ** 2) + tb.Source(1.0),
    "nonlinear": tb.AllenCahn(lambda x: 1 + x[0]),
}
INITIAL = {"a number": 0.4, "a function": lambda x: jnp.sin(x[0]) * x[1] ** 3}


def both(equation, conditions, initial):
    """By the coefficients of the conditions, and by functions that say the same."""
    told = {name: law.residual for name, law in conditions.items()}
    for laws in (conditions, told):
        problem = tb.Problem(DOMAIN, equation, laws, initial)
        yield mismatches(problem, boundary_points(DOMAIN, 20))


def same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("initial", INITIAL)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_coefficients_and_traces_agree(equation, initial):
    same(*both(EQUATIONS[equation], LAWS, INITIAL[initial]))


@pytest.mark.parametrize("initial", [[0.4, 2.0], lambda x: jnp.stack([x[0] ** 3, x[1]])])
def test_components_have_coefficients_of_their_own(initial):
    law = tb.Robin([1.0, 0.0], [0.0, 2.0], lambda x, t: jnp.stack([x[0] + t, 3.0]))
    laws = {name: law for name in DOMAIN.segments} | {"top": tb.Robin(1.0, 0.5, 2.0)}
    same(*both(tb.Heat([0.1, 2.0]) + tb.Source([1.0, -1.0]), laws, initial))


def test_by_hand():
    """u₀ = x³ on x = 1, κ = ½: u₀ = 1, ∂ₙu₀ = 3, L(u₀) = 3x = 3, ∂ₙL(u₀) = 3."""
    conditions = {"left": tb.Neumann(0.0), "right": tb.Robin(2.0, 5.0, lambda x, t: 1 + 7 * t)}
    domain = tb.Interval(0.0, 1.0)
    problem = tb.Problem(domain, tb.Heat(0.5), conditions, lambda x: x[0] ** 3)
    _, ((value,), (rate,)) = mismatches(problem, boundary_points(domain, 2))
    assert value == pytest.approx(2 + 15 - 1)
    assert rate == pytest.approx(6 + 15 - 7)


def test_a_slope_that_no_condition_asks_for_may_be_infinite():
    conditions = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(1.0)}
    domain = tb.Interval(0.0, 1.0)
    problem = tb.Problem(domain, tb.Source(0.0), conditions, lambda x: jnp.sqrt(x[0]))
    for values, rates in mismatches(problem, boundary_points(domain, 2)):
        assert not values.any() and not rates.any()
