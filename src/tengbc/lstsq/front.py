"""One door to all methods: min ‖b − Ax‖ by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from tengbc.errors import NonFiniteError, UsageError
from tengbc.lstsq.cholesky import cholesky
from tengbc.lstsq.qr import pivoted_qr
from tengbc.lstsq.result import LeastSquaresResult
from tengbc.lstsq.spectrum import spectrum

Array = np.ndarray


def _svd(matrix: Array, b: Array, cutoff: float) -> LeastSquaresResult:
    return spectrum(np.ascontiguousarray(matrix.T), b, "svd").solve(cutoff)


def _gram(matrix: Array, b: Array, cutoff: float) -> LeastSquaresResult:
    return spectrum(np.ascontiguousarray(matrix.T), b, "gram").solve(max(cutoff, 1e-7))


_METHODS: dict[str, Callable[[Array, Array, float], LeastSquaresResult]] = {
    "svd": _svd,
    "gram": _gram,
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

    The default cut-off is that of NumPy's `lstsq`, eps·max(m, n).
    """
    if method not in _METHODS:
        raise UsageError(
            f"There is no least-squares method {method!r}; choose one of {', '.join(_METHODS)}."
        )
    matrix, b = np.asarray(matrix, dtype=float), np.asarray(b, dtype=float)
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
    if cutoff is None:
        cutoff = np.finfo(float).eps * max(matrix.shape)
    return _METHODS[method](matrix, b, cutoff)
