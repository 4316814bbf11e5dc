"""Euler's own error, mode by mode, against formulas and against known values."""

import numpy as np
import pytest

import tengbc as tb
from benchmarks.truncation import _modes, euler_error
from tengbc.evidence.reproduction.catalog import GROUPS, paper_numbers


@pytest.mark.parametrize("name", GROUPS["heat"])
def test_the_packaged_values_are_these(name):
    curve = euler_error(tb.problems.get(name), 5e-4)
    assert curve.shape == (101, 2)
    packaged = paper_numbers()["euler_truncation"][name]
    assert curve[:, 1].max() == pytest.approx(packaged, rel=1e-4)


def test_it_is_of_first_order():
    problem = tb.problems.get("heat-mixed")
    coarse, fine = (euler_error(problem, dt)[:, 1].max() for dt in (1e-3, 5e-4))
    assert coarse / fine == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    "name, lowest",
    [
        ("heat-dirichlet", 2.404825557695773**2),
        ("heat-neumann", 0.0),
        ("heat-mixed", 6.246061839191**2),  # J₀(k/2)Y₀(k) = J₀(k)Y₀(k/2), the first k
    ],
)
def test_modes_are_orthonormal_and_their_values_are_known(name, lowest):
    grid, weight, modes, values = _modes(tb.problems.get(name))
    assert values.min() == pytest.approx(lowest, abs=1e-7)
    order = np.argsort(values)[:60]
    gram = (modes[order] * weight) @ modes[order].T
    np.testing.assert_allclose(gram, np.eye(len(order)), atol=1e-8)
    assert weight.sum() == pytest.approx(tb.problems.get(name).domain.measure, rel=1e-10)
    assert len(grid) == len(weight)
