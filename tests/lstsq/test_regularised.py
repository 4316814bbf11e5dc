"""The damped QR against NumPy on the stacked system, which is what it claims to solve."""

import numpy as np
import pytest

from tengbc.lstsq.regularised import RegularisedQR

EXPLICIT = pytest.mark.parametrize("explicit", [False, True], ids=["reflections", "explicit"])
COMPLEX = pytest.mark.parametrize("imaginary", [0.0, 1.0], ids=["real", "complex"])


def system(rows, columns, imaginary, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: (
        rng.normal(size=shape) + (1j * imaginary * rng.normal(size=shape) if imaginary else 0.0)
    )
    return draw(rows, columns), draw(rows)


def stacked_solution(matrix, b, damping):
    """min ‖b − Ax‖² + λ²‖x‖², λ relative to the root mean square norm of the columns."""
    columns = matrix.shape[1]
    size = np.sqrt(np.mean(np.linalg.norm(matrix, axis=0) ** 2))
    stacked = np.concatenate([matrix, damping * size * np.eye(columns)])
    return np.linalg.lstsq(stacked, np.append(b, np.zeros(columns)), rcond=None)[0]


@EXPLICIT
@COMPLEX
@pytest.mark.parametrize("rows, columns", [(60, 20), (20, 20), (12, 30), (40, 1)])
@pytest.mark.parametrize("damping", [1e-13, 1e-2, 3.0])
def test_meets_numpy_on_the_stacked_system(rows, columns, imaginary, explicit, damping):
    matrix, b = system(rows, columns, imaginary)
    expected = stacked_solution(matrix, b, damping)
    if damping < 1e-10 and rows < columns:
        pytest.skip("underdetermined: only the fit is determined, see below")
    found = RegularisedQR(matrix, damping, explicit).solve(b)
    assert found.dtype == matrix.dtype
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.linalg.norm(expected))


@EXPLICIT
@COMPLEX
def test_a_complex_right_hand_side_is_not_conjugated(imaginary, explicit):
    """An exactly solvable system gives back its solution, imaginary part with its sign."""
    matrix, _ = system(30, 8, imaginary)
    x, _ = system(8, 1, imaginary, seed=5)
    found = RegularisedQR(matrix, 1e-14, explicit).solve(matrix @ x[:, 0])
    np.testing.assert_allclose(found, x[:, 0], atol=1e-12)


@EXPLICIT
@COMPLEX
def test_features_that_depend_on_each_other(imaginary, explicit):
    """Rank 5 of 20: the fit is as good as the best, the solution of moderate size."""
    left, _ = system(80, 5, imaginary)
    right, _ = system(5, 20, imaginary, seed=1)
    matrix, b = left @ right, system(80, 1, imaginary, seed=2)[1]
    found = RegularisedQR(matrix, 1e-13, explicit).solve(b)
    best = np.linalg.lstsq(matrix, b, rcond=1e-10)[0]
    reached, least = (np.linalg.norm(b - matrix @ x) for x in (found, best))
    assert reached <= least * (1 + 1e-9)
    # Data that can be fitted leave the free directions alone.
    found = RegularisedQR(matrix, 1e-13, explicit).solve(matrix @ best)
    np.testing.assert_allclose(matrix @ found, matrix @ best, atol=1e-12)
    assert np.linalg.norm(found) <= 10 * np.linalg.norm(best)


def test_more_features_than_rows_are_fitted_exactly():
    matrix, b = system(12, 30, 0.0)
    found = RegularisedQR(matrix, 1e-13).solve(b)
    assert np.linalg.norm(b - matrix @ found) <= 1e-10 * np.linalg.norm(b)


@EXPLICIT
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300])
def test_units_do_not_matter(scale, explicit):
    matrix, b = system(30, 8, 0.0)
    one = RegularisedQR(matrix, 1e-3, explicit).solve(b)
    other = RegularisedQR(scale * matrix, 1e-3, explicit).solve(b)
    np.testing.assert_allclose(scale * other, one, rtol=1e-12)
    triangle = np.triu(np.ones((8, 8)))
    product = RegularisedQR(scale * matrix, 1e-3, explicit).followed_by(triangle) @ b
    np.testing.assert_allclose(scale * product, triangle @ one, rtol=1e-11)


@EXPLICIT
def test_the_zero_matrix_gives_zero(explicit):
    found = RegularisedQR(np.zeros((6, 3)), 1e-13, explicit).solve(np.ones(6))
    np.testing.assert_array_equal(found, 0.0)


@EXPLICIT
def test_the_matrix_and_the_right_hand_side_are_left_alone(explicit):
    matrix, b = system(30, 8, 1.0)
    kept = matrix.copy(), b.copy()
    RegularisedQR(matrix, 1e-13, explicit).solve(b)
    np.testing.assert_array_equal(matrix, kept[0])
    np.testing.assert_array_equal(b, kept[1])


def test_condition_grows_as_the_matrix_degenerates():
    rng = np.random.default_rng(0)
    u, _ = np.linalg.qr(rng.normal(size=(40, 6)))
    v, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    for condition in (1.0, 1e4, 1e8):
        matrix = u * np.geomspace(1, 1 / condition, 6) @ v.T
        found = RegularisedQR(matrix, 1e-15).condition
        assert condition / 30 <= found <= 30 * condition
