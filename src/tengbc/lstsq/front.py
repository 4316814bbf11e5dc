"""One door to all methods: min ‖b − Ax‖ by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tengbc.errors import NonFiniteError, UsageError
from tengbc.lstsq.cholesky import cholesky
from tengbc.lstsq.gram import gram
from tengbc.lstsq.qr import pivoted_qr
from tengbc.lstsq.result import LeastSquaresResult
from tengbc.lstsq.spectrum import scaled, spectrum

Array = np.ndarray


def _svd(matrix: Array, b: Array, cutoff: float) -> LeastSquaresResult:
    return spectrum(np.ascontiguousarray(matrix.T), b, "svd").solve(cutoff)


_METHODS: dict[str, Callable[[Array, Array, float], LeastSquaresResult]] = {
    "svd": _svd,
    "gram": gram,
    "qr": pivoted_qr,
    "cholesky": cholesky,
}


def method_names() -> tuple[str, ...]:
    """The names `least_squares` accepts."""
    return tuple(_METHODS)


def least_squares(
    matrix: Float[Array, "m n"],
    b: Float[Array, " m"],
    *,
    method: str = "svd",
    cutoff: float | None = None,
) -> LeastSquaresResult:
    """min ‖b − Ax‖, singular values below `cutoff` times the largest being dropped.

    The default cut-off is that of NumPy's `lstsq`, eps·max(m, n); below it all is rounding, so a
    smaller one counts as that.
    """
    if method not in _METHODS:
        raise UsageError(
            f"There is no least-squares method {method!r}; choose one of {', '.join(_METHODS)}."
        )
    try:
        matrix, b = np.asarray(matrix, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        raise UsageError("A or b is no array of numbers; give arrays of real numbers.") from None
    if matrix.ndim != 2 or b.shape != matrix.shape[:1]:
        raise UsageError(
            f"A has shape {matrix.shape} and b has shape {b.shape}, but b needs one entry per row "
            f"of A; reshape them."
        )
    if not (np.isfinite(matrix).all() and np.isfinite(b).all()):
        raise NonFiniteError(
            "The least-squares problem contains NaN or infinity, so it has no answer; check the "
            "functions that made its rows."
        )
    smallest = float(np.finfo(float).eps) * max(matrix.shape)
    matrix, scale_matrix = scaled(matrix)
    b, scale_right = scaled(b)
    if matrix.size:
        found = _METHODS[method](matrix, b, max(smallest, cutoff or 0.0))
    else:
        found = LeastSquaresResult(np.zeros(matrix.shape[1]), 0, 1.0, float(np.linalg.norm(b)))
    with np.errstate(over="ignore", invalid="ignore"):
        x = found.x * (scale_right / scale_matrix)
        residual = found.residual * scale_right
    if not np.isfinite([*x, residual]).all():
        raise NonFiniteError(
            f"The least-squares answer is too large for floating point, because A is of size "
            f"{scale_matrix:.0e} and b of size {scale_right:.0e}; scale them."
        )
    return replace(found, x=x, residual=residual)
