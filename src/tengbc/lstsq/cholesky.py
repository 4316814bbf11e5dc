"""Least squares by Cholesky on the normal equations: fastest, and falls back on the record."""

from dataclasses import replace

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.lstsq.qr import pivoted_qr
from tengbc.lstsq.refinement import refined
from tengbc.lstsq.result import LeastSquaresResult

Array = np.ndarray
SMALLEST = 1e-6
"""The inverse of the largest condition number that leaves AᵀA enough digits."""


def cholesky(matrix: Float[Array, "m n"], b: Float[Array, " m"], cutoff: float):
    """AᵀA = LLᵀ, good while the condition number stays below about 1e6.

    Where AᵀA is not safely positive definite, or the estimate of the condition number says that
    too many digits are gone, pivoted QR answers instead and `outcome` says so.
    """
    try:
        lower = sla.cholesky(matrix.T @ matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return _by_qr(matrix, b, cutoff, "AᵀA is not positive definite")
    (trcon,) = sla.get_lapack_funcs(("trcon",), (lower,))
    inverse_condition = float(trcon(lower, norm="1", uplo="L")[0])
    if inverse_condition <= max(SMALLEST, cutoff):
        known = f"the condition number is near {1 / max(inverse_condition, 1e-300):.0e}"
        return _by_qr(matrix, b, cutoff, known)

    def solve(gradient: Float[Array, " n"]) -> Float[Array, " n"]:
        return sla.cho_solve((lower, True), gradient, check_finite=False)

    x, residual = refined(solve, matrix, b, solve(matrix.T @ b))
    return LeastSquaresResult(x, matrix.shape[1], 1 / inverse_condition, residual)


def _by_qr(matrix: Array, b: Array, cutoff: float, reason: str) -> LeastSquaresResult:
    return replace(pivoted_qr(matrix, b, cutoff), outcome=f"fell back to pivoted QR: {reason}")
