"""Orders where the space is refined with the step: Δt is never small for its finest scale.

There the stages of RK4 differ from the solution on the boundary by more than the scheme's order
allows, and data taken at their times shows it; docs/boundary-stages.md has the reason.
"""

from functools import cache

import numpy as np
import pytest

import tengbc as tb
from tengbc.schemes import RK4, RungeKutta
from tengbc.spaces import NetworkSpace
from tests.orders.manufactured import DIRICHLET, NEUMANN, Case, error, slope

DEGREES = (6, 8, 10)
T_END = 0.1


def steps(degree: int) -> int:
    """Δt ~ degree⁻⁴, as the stability of an explicit scheme wants it for the heat equation."""
    return int(np.ceil(T_END * degree**4 / 20))


@cache
def space(condition, degree: int) -> NetworkSpace:
    ends = {"left": condition, "right": condition}
    return Case("stiff", tb.Heat(1.0), ends, degree=degree).space()


@pytest.mark.parametrize(
    "condition, stage_data, order, bound",
    [
        (DIRICHLET, "time", 2.45, 2e-7),
        (DIRICHLET, "consistent", 4.0, 5e-12),
        (NEUMANN, "time", 2.9, 1e-8),
        (NEUMANN, "consistent", 4.0, 5e-12),
    ],
    ids=["dirichlet-time", "dirichlet-consistent", "neumann-time", "neumann-consistent"],
)
def test_only_consistent_data_keeps_the_order_of_rk4(condition, stage_data, order, bound):
    scheme, counts = RungeKutta(RK4, stage_data), [steps(degree) for degree in DEGREES]
    errors = [
        error(space(condition, degree), scheme, n, T_END)
        for degree, n in zip(DEGREES, counts, strict=True)
    ]
    assert slope(errors, counts) == pytest.approx(order, abs=0.1)
    assert errors[-1] < bound
