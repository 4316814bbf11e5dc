"""Least squares by QR with column pivoting: rank-revealing and cheaper than singular values."""

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
    scale = float(np.max(np.abs(matrix), initial=0.0)) or 1.0
    q, r, order = sla.qr(matrix / scale, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    largest = diagonal[0] if diagonal.size else 0.0
    rank = int(np.count_nonzero(diagonal > cutoff * largest)) if largest > 0 else 0
    x = np.zeros(matrix.shape[1])
    if rank:
        z, lower = sla.qr(r[:rank].T, mode="economic", check_finite=False)
        right = sla.solve_triangular(lower.T, q[:, :rank].T @ b, lower=True, check_finite=False)
        x[order] = z @ right / scale
    return LeastSquaresResult(
        x=x,
        rank=rank,
        condition=float(largest / diagonal[rank - 1]) if rank else 1.0,
        residual=float(np.linalg.norm(b - matrix @ x)),
    )
