"""min ‖b − Ax‖ by every method: the answer, and what is told beside it."""

import numpy as np
import pytest

from tengbc.errors import NonFiniteError, UsageError
from tengbc.lstsq import least_squares, method_names
from tests.lstsq.cases import conditioned


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("shape", [(40, 7), (7, 7), (7, 40), (1, 5), (5, 1)])
def test_against_numpy(method, shape):
    rng = np.random.default_rng(1)
    matrix, b = rng.normal(size=shape), rng.normal(size=shape[0])
    kept = matrix.copy(), b.copy()
    found = least_squares(matrix, b, method=method)
    expected, _, rank, singular = np.linalg.lstsq(matrix, b, rcond=None)
    np.testing.assert_allclose(found.x, expected, atol=1e-11)
    np.testing.assert_allclose(found.residual, np.linalg.norm(b - matrix @ expected), atol=1e-13)
    assert found.rank == rank
    # A condition number, or an estimate of it from a triangular factor.
    assert 0.05 < found.condition / (singular[0] / singular[-1]) < 20
    np.testing.assert_array_equal(matrix, kept[0])
    np.testing.assert_array_equal(b, kept[1])


@pytest.mark.parametrize(("method", "accuracy"), [("svd", 1e-9), ("gram", 1e-4)])
@pytest.mark.parametrize("cutoff", [1e-2, 1e-4, 3e-6])
def test_the_cutoff_is_numpys_rcond(method, accuracy, cutoff):
    matrix, b, singular = conditioned(1e10)
    found = least_squares(matrix, b, method=method, cutoff=cutoff)
    expected, _, rank, _ = np.linalg.lstsq(matrix, b, rcond=cutoff)
    assert found.rank == rank == np.count_nonzero(singular > cutoff) < 12
    np.testing.assert_allclose(found.x, expected, atol=accuracy * np.linalg.norm(expected))
    np.testing.assert_allclose(found.residual, np.linalg.norm(b - matrix @ expected), rtol=1e-6)
    np.testing.assert_allclose(found.condition, 1 / singular[rank - 1], rtol=1e-3)
    assert found.outcome == "solved"


@pytest.mark.parametrize("method", method_names())
def test_a_cutoff_below_rounding_counts_as_rounding(method):
    """Equal columns differ by rounding in a factor; with that kept, x would be of size 1e16."""
    found = least_squares(np.ones((3, 6)), np.ones(3), method=method, cutoff=0.0)
    np.testing.assert_allclose(found.x, 1 / 6, rtol=1e-13)
    assert found.rank == 1 and found.residual < 1e-14


@pytest.mark.parametrize(
    ("method", "condition", "fallback"),
    [
        ("cholesky", 1e4, ""),
        ("cholesky", 1e8, "fell back to pivoted QR: the condition number is near"),
        ("cholesky", 1e14, "fell back to pivoted QR: "),
        ("gram", 1e5, ""),
        ("gram", 1e8, "fell back to SVD: singular values below 1e-06"),
        ("qr", 1e12, ""),
        ("svd", 1e12, ""),
    ],
)
def test_a_fallback_is_on_the_record(method, condition, fallback):
    matrix, b, _ = conditioned(condition)
    found = least_squares(matrix, b, method=method)
    assert found.outcome.startswith(fallback or "solved")
    assert found.rank == 12


@pytest.mark.parametrize("method", method_names())
def test_duplicate_columns_share_the_answer(method):
    """Minimal norm: of 3 = x₁ + x₂ the answer is (3/2, 3/2), not (3, 0)."""
    column = np.array([1.0, 2.0, -1.0, 0.5])
    matrix = np.stack([column, column, np.zeros(4)], axis=1)
    found = least_squares(matrix, 3 * column, method=method)
    np.testing.assert_allclose(found.x, [1.5, 1.5, 0.0], atol=1e-14)
    assert found.rank == 1 and found.residual < 1e-14


@pytest.mark.parametrize("method", method_names())
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (0, 3), (3, 0)])
def test_nothing_to_fit_with_gives_zero(method, shape):
    found = least_squares(np.zeros(shape), np.ones(shape[0]), method=method)
    np.testing.assert_array_equal(found.x, np.zeros(shape[1]))
    assert found.rank == 0 and found.condition == 1.0
    assert found.residual == pytest.approx(np.sqrt(shape[0]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_refuses_what_is_not_finite(bad):
    matrix, b = np.eye(3), np.ones(3)
    with pytest.raises(NonFiniteError, match="NaN or infinity"):
        least_squares(np.where(matrix == 1, bad, 0.0), b)
    with pytest.raises(NonFiniteError, match="NaN or infinity"):
        least_squares(matrix, b * bad)


def test_refuses_shapes_and_names_that_cannot_be():
    with pytest.raises(UsageError, match=r"b needs one entry per row"):
        least_squares(np.eye(3), np.ones(2))
    with pytest.raises(UsageError, match=r"\(3,\).*reshape"):
        least_squares(np.ones(3), np.ones(3))
    with pytest.raises(UsageError, match="choose one of svd, gram, qr, cholesky"):
        least_squares(np.eye(3), np.ones(3), method="lu")
