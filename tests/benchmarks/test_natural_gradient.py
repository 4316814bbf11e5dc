"""Appendix B: the projection's step is the natural gradient of the loss over the closed domain."""

from dataclasses import replace

import numpy as np
import pytest

import tengbc as tb
from benchmarks.natural_gradient import ROWS, natural_step


@pytest.mark.parametrize(
    "kind",  # mixed rows are of both other kinds
    [pytest.param(kind, marks=pytest.mark.long) for kind in ("Dirichlet", "Neumann")]
    + [kind for kind in ROWS if kind not in ("Dirichlet", "Neumann")],
)
def test_the_step_is_the_natural_gradient(kind):
    problem = tb.problems.get(ROWS[kind])
    found = natural_step(problem, widths=(16, 16), per_axis=16, iterations=12)
    assert np.linalg.norm(found.step) > 0
    assert found.imbalance < 1e-13
    assert found.distance < 1e-15 * found.condition
    # The boundary's part of the metric is no trifle: without it the step would be another.
    inside = problem.domain.interior(rule="uniform", per_axis=16)
    without = replace(found, jacobian=found.jacobian[: len(inside)])
    assert without.distance > 1e-2
