"""P9, rank-deficient and badly scaled problems against numpy: 500 cases, 20,000 in a long run."""

import numpy as np
import pytest
import scipy.linalg as sla

from tengbc.lstsq import ConjugateGradients, RegularisedQR, spectrum
from tests.lstsq.cases import KINDS, case, complex_case, conditioned

EPS = np.finfo(float).eps
SOLVERS = {
    "svd": lambda matrix, b: spectrum(np.ascontiguousarray(matrix.T), b).solve(1e-6).x,
    "gram": lambda matrix, b: ConjugateGradients(np.ascontiguousarray(matrix.T), b).solve(1e-7).x,
    "damped": lambda matrix, b: RegularisedQR(matrix, 1e-13).solve(b),
    "damped, explicit": lambda matrix, b: RegularisedQR(matrix, 1e-13, explicit=True).solve(b),
}
METHODS = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def unit(matrix, b):
    """A and b without their sizes, and the sizes."""
    size, size_right = np.abs(matrix).max() or 1.0, np.abs(b).max() or 1.0
    return matrix / size, b / size_right, size, size_right


def check_truncated(seed):
    """No NaN; the residual no worse than numpy's; minimal norm where the rank is beyond doubt."""
    matrix, b, kinds = case(seed)
    a, right, size, size_right = unit(matrix, b)
    singular = sla.svdvals(a)
    for cutoff in (0.0, 1e-9):
        where = f"cut-off {cutoff:g}, case {seed}, {sorted(kinds)}"
        found = spectrum(np.ascontiguousarray(matrix.T), b).solve(cutoff)
        assert np.isfinite(found.x).all() and np.isfinite(found.residual), where
        # A cut-off below rounding counts as rounding, which is also numpy's default.
        cutoff = max(cutoff, max(a.shape) * EPS)
        expected, _, rank, _ = np.linalg.lstsq(a, right, rcond=cutoff)
        x = found.x * (size / size_right)
        rounding = 50 * max(a.shape) * EPS
        floor = rounding * (sla.norm(a) * sla.norm(x) + sla.norm(right))
        left, best = sla.norm(right - a @ x), sla.norm(right - a @ expected)
        assert abs(found.residual / size_right - left) <= 1e-6 * left + 10 * floor, where
        threshold = cutoff * max(singular[0], 1e-300)
        margin = 1e3 if cutoff < 1e-12 else 1.01
        if np.any((singular > threshold / margin) & (singular < threshold * margin)):
            continue
        assert found.rank == rank, where
        assert left <= best * (1 + 1e-6) + floor, where
        # x moves by about eps·κ²·residual; beyond that it is numpy's, hence of minimal norm.
        condition = singular[0] / singular[rank - 1] if rank else 1.0
        moved = condition * (sla.norm(expected) + 1) + condition**2 * best
        assert sla.norm(x - expected) <= rounding * moved, where


def check_conjugate(seed):
    """No NaN; the sum that damping minimises is no larger than the exact minimum's, nearly."""
    matrix, b, kinds = case(seed)
    a, right, size, size_right = unit(matrix, b)
    solver = ConjugateGradients(np.ascontiguousarray(matrix.T), b)
    gram = np.sqrt(sla.norm(a.T @ a))
    for cutoff in (1e-3, 1e-6):
        where = f"cut-off {cutoff:g}, case {seed}, {sorted(kinds)}"
        found = solver.solve(cutoff)
        assert np.isfinite(found.x).all() and np.isfinite(found.residual), where
        assert 0 <= found.rank <= a.shape[1], where
        damping = cutoff * gram
        stacked = np.vstack([a, damping * np.eye(a.shape[1])])
        best, *_ = np.linalg.lstsq(stacked, np.append(right, np.zeros(a.shape[1])))
        sums = [
            np.hypot(sla.norm(right - a @ x), damping * sla.norm(x))
            for x in (found.x * (size / size_right), solver.again(b, cutoff) * (size / size_right))
        ]
        least = np.hypot(sla.norm(right - a @ best), damping * sla.norm(best))
        floor = 50 * max(a.shape) * EPS / cutoff * sla.norm(right)
        assert sums[0] <= least * (1 + 1e-2) + floor, where
        assert sums[1] <= least * (1 + 1e-2) + floor, where


def check_damped(seed, explicit):
    """No NaN; as good a fit as any x of moderate size; no larger than what fits as well."""
    for matrix, b, kinds in (case(seed), complex_case(seed)):
        a, right, size, size_right = unit(matrix, b)
        rows, columns = a.shape
        singular = sla.svdvals(a)
        for damping in (1e-13, 1e-9):  # those of implicit and of explicit steps
            where = f"damping {damping:g}, case {seed}, {sorted(kinds)}, {a.dtype}"
            x = RegularisedQR(matrix, damping, explicit).solve(b) * (size / size_right)
            assert np.isfinite(x).all() and x.dtype == a.dtype, where
            rounding = 50 * max(rows, columns) * EPS
            weight = damping * (sla.norm(a) / np.sqrt(columns) or 1.0)
            left, reach = sla.norm(right - a @ x), sla.norm(right)
            floor = rounding * (sla.norm(a) * sla.norm(x) + reach)
            for cutoff in (None, 1e-12, 1e-9, 1e-6, 1e-3):
                z, *_ = np.linalg.lstsq(a, right, rcond=cutoff)
                # x minimises ‖b − Ax‖² + λ²‖x‖², so no z does better in that sum.
                best, price = sla.norm(right - a @ z), weight * sla.norm(z)
                assert left <= np.hypot(best, price) * (1 + 1e-6) + floor, where
            # The filter σ/(σ² + λ²) ≤ 1/σ never enlarges a component. A perturbation eps·‖A‖ of A
            # adds to free directions what it takes from b (over λ) or from the residual (over λ²).
            z, *_ = np.linalg.lstsq(a, right, rcond=None)
            best = sla.norm(right - a @ z)
            added = rounding * (reach / weight + singular[0] * best / weight**2)
            assert sla.norm(x) <= 2 * sla.norm(z) + min(added, reach / weight), where


def test_five_hundred_cases():
    for seed in range(500):
        check_truncated(seed)
        check_conjugate(seed)
        check_damped(seed, explicit=bool(seed % 2))


@pytest.mark.long
def test_twenty_thousand_cases():
    for seed in range(500, 20_500):
        check_truncated(seed)
        check_conjugate(seed)
        check_damped(seed, explicit=bool(seed % 2))


def test_the_cases_cover_every_kind():
    cases = [case(seed) for seed in range(500)]
    for kind in KINDS:
        assert sum(kind in kinds for _, _, kinds in cases) > 40
    assert {np.sign(m - n) for (m, n), *_ in ((a.shape, b) for a, b, _ in cases)} == {-1, 0, 1}
    assert min(np.abs(a).max() for a, *_ in cases if a.any()) < 1e-140
    assert max(np.abs(a).max() for a, *_ in cases) > 1e140


@METHODS
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_both_sides_scaled_alike_leave_the_answer(solver, scale):
    matrix, b, _ = conditioned(1e3)
    found = solver(matrix * scale, b * scale)
    np.testing.assert_allclose(found, solver(matrix, b), rtol=1e-9)


@METHODS
def test_an_answer_too_large_for_floating_point_is_infinite_not_nan(solver):
    matrix, b, _ = conditioned(1e3)
    found = solver(matrix * 1e-160, b * 1e160)
    assert not np.isfinite(found).all() and not np.isnan(found).any()
    found = solver(matrix * 1e170, b * 1e-170)
    np.testing.assert_array_equal(found, 0.0)


@pytest.mark.parametrize(
    ("method", "exact"),
    [(spectrum, 1e-13), (ConjugateGradients, 1e-9)],  # the Gram matrix's noise over its damping
)
def test_a_cutoff_below_rounding_counts_as_rounding(method, exact):
    """Equal columns differ by rounding in a factor; with that kept, x would be of size 1e16."""
    found = method(np.ones((6, 3)), np.ones(3)).solve(0.0)
    np.testing.assert_allclose(found.x, 1 / 6, rtol=exact)
    assert found.rank == 1 and found.residual < 2e-8


@METHODS
def test_duplicate_columns_share_the_answer(solver):
    """Minimal norm: of 3 = x₁ + x₂ the answer is (3/2, 3/2), not (3, 0)."""
    column = np.array([1.0, 2.0, -1.0, 0.5])
    matrix = np.stack([column, column, np.zeros(4)], axis=1)
    np.testing.assert_allclose(solver(matrix, 3 * column), [1.5, 1.5, 0.0], atol=2e-3)
    np.testing.assert_allclose(solver(matrix, 3 * column)[:2].sum(), 3.0, atol=1e-12)


@METHODS
@pytest.mark.parametrize("shape", [(3, 4), (4, 3)])
def test_nothing_to_fit_with_gives_zero(solver, shape):
    np.testing.assert_array_equal(solver(np.zeros(shape), np.ones(shape[0])), np.zeros(shape[1]))
