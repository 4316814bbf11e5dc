"""One factorisation for every cut-off, on the host and in XLA."""

import numpy as np
import pytest

from tengbc.lstsq import Spectrum, spectrum
from tengbc.lstsq.spectrum import _by_qr_and_svd, _by_xla
from tests.lstsq.cases import conditioned

CUTOFFS = (1e-2, 1e-4, 1e-5)


def factored(matrix, b):
    return spectrum(np.ascontiguousarray(matrix.T), b)


@pytest.mark.parametrize("shape", [(60, 12), (12, 12), (12, 60)])
def test_every_cutoff_from_one_factorisation(shape):
    matrix, b, _ = conditioned(1e9, *shape)
    one = factored(matrix, b)
    for cutoff in CUTOFFS:
        found = one.solve(cutoff)
        expected, _, rank, _ = np.linalg.lstsq(matrix, b, rcond=cutoff)
        assert found.rank == rank
        np.testing.assert_allclose(found.x, expected, atol=1e-5 * np.linalg.norm(expected))
        left = np.linalg.norm(b - matrix @ expected)
        np.testing.assert_allclose(found.residual, left, atol=1e-7 * np.linalg.norm(b))


@pytest.mark.parametrize("scale", [1.0, 1e150])
def test_another_right_hand_side(scale):
    matrix, b, _ = conditioned(1e4)
    matrix, other = matrix * scale, b[::-1] + 0.5
    first, anew = factored(matrix, b), factored(matrix, other)
    for cutoff in (1e-2, 1e-5):
        found, expected = first.again(other, cutoff), anew.solve(cutoff).x
        np.testing.assert_allclose(found, expected, atol=1e-6 * np.linalg.norm(expected))


def test_singular_values_keep_their_digits_where_the_matrix_is_not_squared():
    matrix, b, singular = conditioned(1e11)
    found = factored(matrix, b)
    np.testing.assert_allclose(found.singular, singular, rtol=1e-4)
    np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(12), atol=1e-14)
    expected = np.linalg.lstsq(matrix, b, rcond=1e-9)[0]
    np.testing.assert_allclose(found.solve(1e-9).x, expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(60, 12), (12, 12), (12, 60)])
def test_the_accelerators_path_equals_the_hosts(shape):
    matrix, b, _ = conditioned(1e5, *shape)
    transposed = np.ascontiguousarray(matrix.T)
    host, xla = (Spectrum(*path(transposed, b), transposed) for path in (_by_qr_and_svd, _by_xla))
    np.testing.assert_allclose(xla.singular, host.singular, atol=1e-14)
    np.testing.assert_allclose(xla.outside, host.outside, atol=1e-13)
    for cutoff in CUTOFFS:
        one, other = xla.solve(cutoff), host.solve(cutoff)
        assert one.rank == other.rank
        np.testing.assert_allclose(one.x, other.x, atol=1e-9 * np.linalg.norm(other.x))
        np.testing.assert_allclose(one.residual, other.residual, atol=1e-13)


@pytest.mark.parametrize(("scale", "scale_right"), [(1e150, 1e-150), (1e-150, 1e100), (1e250, 1)])
def test_scales_that_would_overflow_when_squared(scale, scale_right):
    matrix, b, _ = conditioned(1e4)
    plain = factored(matrix, b).solve(1e-3)
    found = factored(matrix * scale, b * scale_right).solve(1e-3)
    np.testing.assert_allclose(found.x / plain.x, scale_right / scale, rtol=1e-6)
    np.testing.assert_allclose(found.residual / plain.residual, scale_right, rtol=1e-10)


def test_the_input_is_left_alone():
    matrix, b, _ = conditioned(1e4)
    transposed = np.ascontiguousarray(matrix.T)
    spectrum(transposed, b)
    np.testing.assert_array_equal(transposed, matrix.T)
