"""Least squares by Cholesky on the normal equations: fastest, and falls back on the record."""

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.lstsq.qr import pivoted_qr
from tengbc.lstsq.result import LeastSquaresResult

Array = np.ndarray


def cholesky(matrix: Float[Array, "m n"], b: Float[Array, " m"], cutoff: float):
    """AᵀA = LLᵀ, good while the condition number stays below about 1e7.

    Where AᵀA is not safely positive definite, or the estimate of the condition number says that
    half the digits are gone, pivoted QR answers instead and `outcome` says so.
    """
    scale = float(np.max(np.abs(matrix), initial=0.0)) or 1.0
    scaled = matrix / scale
    gram = scaled.T @ scaled
    reason = "AᵀA is not positive definite"
    if matrix.shape[0] >= matrix.shape[1] and matrix.shape[1]:
        try:
            lower = sla.cholesky(gram, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            lower = None
        if lower is not None:
            inverse_condition, _ = sla.lapack.dtrcon(lower, norm="1", uplo="L")
            if inverse_condition > max(1e-7, cutoff):
                x = sla.cho_solve((lower, True), scaled.T @ b, check_finite=False) / scale
                residual = float(np.linalg.norm(b - matrix @ x))
                return LeastSquaresResult(
                    x, matrix.shape[1], float(1 / inverse_condition), residual
                )
            reason = f"the condition number is near {1 / max(inverse_condition, 1e-300):.0e}"
    fallback = pivoted_qr(matrix, b, cutoff)
    return LeastSquaresResult(
        fallback.x,
        fallback.rank,
        fallback.condition,
        fallback.residual,
        outcome=f"fell back to pivoted QR: {reason}",
    )
