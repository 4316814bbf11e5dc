"""Measured orders with time-dependent boundary data, where the space can represent everything."""

import pytest

from tengbc.schemes import EULER, HEUN, RK4, RungeKutta
from tests.orders.manufactured import CASES, error, slope, space_of

STEPS = (20, 40)
T_END = 0.4
BOUNDS = {"euler": 2e-2, "heun": 2e-4, "rk4": 4e-9}
"""Largest error with the finest steps; the slope alone would miss a wrong constant."""


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tableau", [EULER, HEUN, RK4], ids=lambda tableau: tableau.name)
def test_order_with_data_at_the_time_of_each_stage(name, tableau):
    errors = [error(space_of(name), RungeKutta(tableau), n, T_END) for n in STEPS]
    assert slope(errors, STEPS) == pytest.approx(tableau.order, abs=0.1)
    assert errors[-1] < BOUNDS[tableau.name]


@pytest.mark.parametrize("name", [name for name in CASES if name != "heat-rectangle"])
@pytest.mark.parametrize("tableau", [HEUN, RK4], ids=lambda tableau: tableau.name)
def test_order_with_consistent_stage_data(name, tableau):
    scheme = RungeKutta(tableau, stage_data="consistent")
    errors = [error(space_of(name), scheme, n, T_END) for n in STEPS]
    assert slope(errors, STEPS) == pytest.approx(tableau.order, abs=0.1)
    assert errors[-1] < BOUNDS[tableau.name]
