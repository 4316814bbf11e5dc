"""Multistep schemes: their coefficients, their stability, their measured orders, their history."""

import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import UsageError
from tengbc.options import SCHEMES as NAMES
from tengbc.schemes import AdamsBashforth, BackwardDifferences, State
from tengbc.schemes.adams import adams_weights
from tengbc.schemes.bdf import bdf_weights, extrapolation_weights
from tengbc.solver import fast, paper
from tests.orders.manufactured import CASES, slope
from tests.schemes.spaces import marched_error, still_space, polynomial_space

MOVING = [name for name in CASES if name != "heat-disk"]


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
@pytest.mark.parametrize("name", MOVING)
def test_order_with_boundary_data_that_move(name, scheme):
    """One state per step, at its own time: the boundary costs a multistep scheme no order."""
    space, t_end = polynomial_space(name), 0.4
    steps = (40, 80) if scheme.order < 4 else (20, 40)
    errors = [marched_error(space, scheme, n, t_end) for n in steps]
    assert slope(errors, steps) == pytest.approx(scheme.order, abs=0.25 if scheme.order > 3 else 0.15)
    assert errors[-1] < {1: 3e-2, 2: 1e-3, 3: 1e-4, 4: 1e-5, 5: 1e-6}[scheme.order]
