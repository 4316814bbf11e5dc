"""Multistep schemes: their coefficients, their stability, their measured orders, their history."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import UsageError
from tengbc.options import EXPLICIT_SCHEMES
from tengbc.options import SCHEMES as NAMES
from tengbc.schemes import SCHEMES, AdamsBashforth, BackwardDifferences
from tengbc.schemes.adams import adams_weights
from tengbc.schemes.bdf import bdf_weights, extrapolation_weights
from tengbc.spaces import State
from tests.orders.manufactured import CASES, slope
from tests.schemes.spaces import marched_error, polynomial_space, still


def test_adams_weights_are_those_of_the_books():
    np.testing.assert_allclose(adams_weights(2), [3 / 2, -1 / 2], atol=1e-15)
    np.testing.assert_allclose(adams_weights(3), [23 / 12, -16 / 12, 5 / 12], atol=1e-14)
    np.testing.assert_allclose(adams_weights(4), np.array([55, -59, 37, -9]) / 24, atol=1e-14)


def test_bdf_weights_are_those_of_the_books():
    np.testing.assert_allclose(bdf_weights(2), [3 / 2, -2, 1 / 2], atol=1e-15)
    np.testing.assert_allclose(
        bdf_weights(5), np.array([137, -300, 300, -200, 75, -12]) / 60, atol=1e-14
    )


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_order_conditions(order):
    """The derivative at the newest state and the prediction are exact for polynomials."""
    past = -np.arange(order + 1.0)
    for power in range(order + 1):
        derivative = bdf_weights(order) @ past**power
        assert abs(derivative - (power == 1)) <= 1e-12
    for power in range(order):
        predicted = extrapolation_weights(order) @ past[1:] ** power
        assert abs(predicted - (power == 0)) <= 1e-12


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_bdf_forgets_stiff_parts_and_is_zero_stable(order):
    """The roots of Σ aⱼ ζ^{k−j} = z ζᵏ: 1 and inside for z = 0, all near 0 for z → −∞."""
    weights = bdf_weights(order)
    roots = np.sort(np.abs(np.roots(weights)))
    assert roots[-1] == pytest.approx(1.0, abs=1e-9)
    assert order == 1 or roots[-2] < 0.8
    stiff = weights.copy()
    stiff[0] += 1e9
    assert np.abs(np.roots(stiff)).max() < 0.02


ORDERS = [
    *(BackwardDifferences(order) for order in (1, 2, 3, 4, 5)),
    *(BackwardDifferences(order, imex=True) for order in (1, 2, 3, 4)),
    *(AdamsBashforth(order) for order in (2, 3, 4)),
]
NAMED = pytest.mark.parametrize("scheme", ORDERS, ids=lambda scheme: scheme.name)


@NAMED
@pytest.mark.parametrize("name", CASES)
def test_order_with_boundary_data_that_move(name, scheme):
    """One state per step, at its own time: the boundary costs a multistep scheme no order."""
    if name == "heat-radiation" and scheme.name == "imex4":
        pytest.skip("u³ on the boundary taken explicitly to order 4 is stable for tiny steps only")
    space, steps = polynomial_space(name), (40, 80)
    errors = [marched_error(space, scheme, n, 0.4) for n in steps]
    assert slope(errors, steps) == pytest.approx(scheme.order, abs=0.1)
    assert errors[-1] < {1: 5e-2, 2: 3e-4, 3: 1e-5, 4: 3e-8, 5: 3e-10}[scheme.order]


def test_imex_takes_the_remainder_once_and_bdf_to_the_end():
    """Both of order 2 for sin(u)·u; one evaluates it once a step, the other until it settles."""
    counts = {}
    for scheme in (BackwardDifferences(2), BackwardDifferences(2, imex=True)):
        space = still("dirichlet", lambda t: 0.3, reaction=0.5)
        evaluate, calls = space.rate_remainder, []
        space.rate_remainder = lambda c, t, evaluate=evaluate, calls=calls: (
            calls.append(t) or evaluate(c, t)
        )
        assert marched_error(space, scheme, 40, 1.0) < 5e-3
        counts[scheme.imex] = len(calls)
    assert counts[True] < 70 < counts[False]


@NAMED
def test_a_resumed_march_repeats_the_bits(scheme):
    """All a scheme remembers is in its state: a second space goes on from it as the first would."""
    first, second = (still("robin", lambda t: 0.3, reaction=0.3) for _ in range(2))
    start = first.collocation.parameters.start
    target = first.collocation.problem.initial(first.collocation.interior.x)[:, None]
    state, dt = State(first.project(start, target, 0.0).theta), 0.05
    for n in range(7):
        state, _ = scheme.step(first, state, n * dt, dt, (0, n))
    second.remember(first.memory())
    expected = resumed = state
    for n in range(7, 12):
        expected, _ = scheme.step(first, expected, n * dt, dt, (0, n))
        resumed, _ = scheme.step(second, resumed, n * dt, dt, (0, n))
    np.testing.assert_array_equal(expected.theta, resumed.theta)


def test_every_scheme_of_the_options_exists_and_no_other():
    """And what each says of itself is so: explicit or not, one step or several."""
    assert set(NAMES) == set(SCHEMES)
    assert {name for name, scheme in SCHEMES.items() if scheme.explicit} == set(EXPLICIT_SCHEMES)
    assert {name for name, scheme in SCHEMES.items() if not scheme.one_step} == {
        name for name in NAMES if name.startswith(("ab", "bdf", "imex"))
    }


def test_orders_that_do_not_exist_are_refused():
    with pytest.raises(UsageError, match="1 to 5"):
        BackwardDifferences(6)
    with pytest.raises(UsageError, match="2, 3 or 4"):
        AdamsBashforth(5)


@pytest.mark.parametrize("scheme", ["bdf5", "ab4", "imex4", "radau5"])
def test_on_the_command_line_by_name(scheme):
    """heat on an interval, cos(πx)·exp(−π²κt): frozen features marched by each family."""
    wave = lambda x: jnp.cos(jnp.pi * x[0])
    problem = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.1),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        wave,
        lambda x, t: wave(x) * jnp.exp(-0.1 * jnp.pi**2 * t),
    )
    dt = 2e-4 if scheme == "ab4" else 5e-3
    choices = {"strategy": "frozen-features", "scheme": scheme, "dt": dt, "rtol": 1e-6}
    solution = tb.solve(problem, 0.2, **choices)
    x = problem.domain.interior(50, seed=3).x
    exact = problem.exact(x, 0.2)
    assert np.abs(solution(x, 0.2) - exact).max() < 1e-6
    assert solution.facts["scheme"] == scheme
