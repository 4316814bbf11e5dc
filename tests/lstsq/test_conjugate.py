"""Damped least squares behind a Gram matrix: as exact as if the matrix had not been squared."""

import numpy as np
import pytest

from tengbc.lstsq import ConjugateGradients
from tengbc.lstsq.conjugate import FLOOR
from tests.lstsq.cases import conditioned


def damped(matrix, b, damping):
    """argmin ‖b − Ax‖² + λ²‖x‖², by QR of the stacked rows."""
    n = matrix.shape[1]
    stacked = np.vstack([matrix, damping * np.eye(n)])
    return np.linalg.lstsq(stacked, np.append(b, np.zeros(n)), rcond=None)[0]


def consistent(condition, noise, seed=3):
    """A right-hand side that weak directions are needed for, and noise outside of A's range."""
    matrix, b, _ = conditioned(condition, 200, 30)
    outside = b - matrix @ np.linalg.lstsq(matrix, b, rcond=None)[0]
    x = np.random.default_rng(seed).normal(size=30)
    return matrix, matrix @ x + noise * outside / np.linalg.norm(outside)


@pytest.mark.parametrize("cutoff", [1e-3, 1e-5, 1e-6])
def test_above_the_floor_it_is_the_damped_minimum(cutoff):
    matrix, b = consistent(1e9, 1e-3)
    solver = ConjugateGradients(np.ascontiguousarray(matrix.T), b)
    expected = damped(matrix, b, cutoff * np.sqrt(np.linalg.norm(matrix.T @ matrix)))
    for found in (solver.solve(cutoff).x, solver.again(b, cutoff)):
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.linalg.norm(expected))
    left = np.linalg.norm(b - matrix @ expected)
    assert solver.solve(cutoff).residual == pytest.approx(left, rel=1e-4)


def test_below_the_floor_the_residual_is_that_of_singular_values():
    """The Gram matrix alone, damped by what round-off demands, leaves many times more."""
    matrix, b = consistent(1e10, 1e-8)
    solver = ConjugateGradients(np.ascontiguousarray(matrix.T), b)
    best = np.linalg.norm(b - matrix @ damped(matrix, b, 1e-8 * solver.scale))
    gram_alone = np.linalg.norm(b - matrix @ solver.again(b, FLOOR))
    assert gram_alone > 9 * best
    assert solver.solve(1e-8).residual < 1.25 * best


def test_the_residual_is_the_true_one():
    matrix, b = consistent(1e8, 1e-4)
    solver = ConjugateGradients(np.ascontiguousarray(matrix.T), b)
    for cutoff in (1e-2, 1e-6, 1e-9):
        found = solver.solve(cutoff)
        assert found.residual == pytest.approx(np.linalg.norm(b - matrix @ found.x), rel=1e-6)


def test_rank_and_condition():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(80, 7)) @ rng.normal(size=(7, 20))
    found = ConjugateGradients(np.ascontiguousarray(matrix.T), rng.normal(size=80)).solve(1e-5)
    assert found.rank == 7 and found.condition == pytest.approx(1e5)


def test_the_input_is_left_alone():
    matrix, b = consistent(1e4, 1.0)
    transposed, right = np.ascontiguousarray(matrix.T), b.copy()
    solver = ConjugateGradients(transposed, right)
    solver.solve(1e-6)
    solver.again(b, 1e-3)
    np.testing.assert_array_equal(transposed, matrix.T)
    np.testing.assert_array_equal(right, b)
