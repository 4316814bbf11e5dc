"""Least squares by QR with column pivoting: rank-revealing and cheaper than singular values."""

from typing import cast

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.lstsq.result import LeastSquaresResult

Array = np.ndarray


def pivoted_qr(matrix: Float[Array, "m n"], b: Float[Array, " m"], cutoff: float):
    """AP = QR; the diagonal of R below `cutoff` times its first entry is dropped.

    The kept rows of R are reduced from the right as well (a complete orthogonal decomposition), so
    the answer has minimal norm.
    """
    q, r, order = _qr(matrix, pivoting=True)
    diagonal = np.abs(np.diag(r))
    largest = diagonal[0]
    rank = int(np.count_nonzero(diagonal > cutoff * largest)) if largest > 0 else 0
    x = np.zeros(matrix.shape[1])
    if rank:
        z, lower = _qr(r[:rank].T)
        right = sla.solve_triangular(lower.T, q[:, :rank].T @ b, lower=True, check_finite=False)
        x[order] = z @ right
    return LeastSquaresResult(
        x=x,
        rank=rank,
        condition=float(largest / diagonal[rank - 1]) if rank else 1.0,
        residual=float(np.linalg.norm(b - matrix @ x)),
    )


def _qr(matrix: Array, pivoting: bool = False) -> tuple[Array, ...]:
    factors = sla.qr(matrix, mode="economic", pivoting=pivoting, check_finite=False)
    return cast("tuple[Array, ...]", factors)
