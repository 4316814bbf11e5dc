"""Rank-deficient and badly scaled problems against numpy: 500 cases, 20,000 in a long run."""

import numpy as np
import pytest
import scipy.linalg as sla

from tengbc.errors import NonFiniteError
from tengbc.lstsq import least_squares, method_names
from tests.lstsq.cases import KINDS, case, conditioned

EPS = np.finfo(float).eps


def check(seed):
    """No NaN; the residual no worse than numpy's; minimal norm where the rank is beyond doubt."""
    matrix, b, kinds = case(seed)
    size, size_right = np.abs(matrix).max() or 1.0, np.abs(b).max() or 1.0
    unit, unit_right = matrix / size, b / size_right
    expected, _, rank, singular = np.linalg.lstsq(unit, unit_right, rcond=None)
    rounding = 50 * max(matrix.shape) * EPS
    cutoff = max(matrix.shape) * EPS * max(singular[0], 1e-300)
    doubtful = np.any((singular > cutoff / 1e3) & (singular < cutoff * 1e3))
    for method in method_names():
        where = f"{method}, case {seed}, {sorted(kinds)}"
        found = least_squares(matrix, b, method=method)
        assert np.isfinite(found.x).all() and np.isfinite(found.residual), where
        assert found.outcome == "solved" or found.outcome.startswith("fell back"), where
        x = found.x * (size / size_right)
        floor = rounding * (sla.norm(unit) * max(sla.norm(x), sla.norm(expected)) + 1)
        left = sla.norm(unit_right - unit @ x)
        best = sla.norm(unit_right - unit @ expected)
        assert left <= best * (1 + 1e-6) + floor, where
        assert abs(found.residual / size_right - left) <= 1e-6 * left + 10 * floor, where
        if not doubtful:
            # x moves by about eps·κ²·residual, and the eigenvectors of AᵀA by eps·κ²; beyond that
            # it is numpy's, hence of minimal norm.
            condition = singular[0] / singular[rank - 1] if rank else 1.0
            squared = condition**2 * (sla.norm(expected) if method == "gram" else best)
            moved = rounding * (condition * sla.norm(expected) + squared + condition)
            assert found.rank == rank, where
            assert sla.norm(x - expected) <= moved, where


def test_five_hundred_cases():
    for seed in range(500):
        check(seed)


def test_the_cases_cover_every_kind():
    cases = [case(seed) for seed in range(500)]
    for kind in KINDS:
        assert sum(kind in kinds for _, _, kinds in cases) > 40
    assert {np.sign(m - n) for (m, n), *_ in ((a.shape, b) for a, b, _ in cases)} == {-1, 0, 1}
    assert min(np.abs(a).max() for a, *_ in cases if a.any()) < 1e-140
    assert max(np.abs(a).max() for a, *_ in cases) > 1e140


@pytest.mark.long
def test_twenty_thousand_cases():
    for seed in range(500, 20_500):
        check(seed)


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_both_sides_scaled_alike_leave_the_answer(method, scale):
    matrix, b, _ = conditioned(1e3)
    plain = least_squares(matrix, b, method=method)
    found = least_squares(matrix * scale, b * scale, method=method)
    np.testing.assert_allclose(found.x, plain.x, rtol=1e-9)
    np.testing.assert_allclose(found.residual / scale, plain.residual, rtol=1e-12)


@pytest.mark.parametrize("method", method_names())
def test_an_answer_too_large_for_floating_point_is_an_error_not_a_nan(method):
    matrix, b, _ = conditioned(1e12)
    with pytest.raises(NonFiniteError, match="too large for floating point"):
        least_squares(matrix * 1e-150, b * 1e150, method=method)
