"""A factorisation made once and used for many right-hand sides: QR with a trace of damping.

Features that nearly depend on each other leave directions in which the solution is free. Cutting
them off costs a singular value decomposition; a damping λ of a few rounding errors,

    min ‖b − Ax‖² + λ²‖x‖²,

has the same effect and costs one QR: the fit is as good as that of the best x of moderate size.
"""

import numpy as np
import scipy.linalg as sla
from jaxtyping import Inexact

Array = np.ndarray


class RegularisedQR:
    """QR of A stacked on λ times the identity, real or complex.

    `damping` is relative to the root mean square of the columns' norms. The orthogonal factor stays
    in the form of reflections, which takes half the time of forming it; `explicit=True` forms it,
    which pays from some hundred right-hand sides on. `triangle` is the factor R of A·2⁻ᵏ, k being 0
    but for entries whose squares might overflow or vanish; `condition` is an estimate from its
    diagonal.
    """

    def __init__(self, matrix: Inexact[Array, "m n"], damping: float, explicit: bool = False):
        rows, columns = matrix.shape
        matrix, self._exponent = scaled(matrix)
        self.scale = float(np.linalg.norm(matrix)) / np.sqrt(columns) or 1.0
        stacked = np.zeros((rows + columns, columns), dtype=matrix.dtype, order="F")
        stacked[:rows] = matrix
        stacked[rows + np.arange(columns), np.arange(columns)] = damping * self.scale
        self.rows, self.columns = rows, columns
        factor, apply = ("geqrf", "unmqr") if np.iscomplexobj(matrix) else ("geqrf", "ormqr")
        geqrf, self._apply = sla.get_lapack_funcs((factor, apply), (stacked,))
        self._reflections, self._tau, _, _ = geqrf(stacked, lwork=64 * columns, overwrite_a=True)
        self.triangle = np.triu(self._reflections[:columns])
        self._adjoint = self._explicit() if explicit else None
        diagonal = np.abs(np.diag(self.triangle))
        self.condition = float(diagonal.max() / max(diagonal.min(), 1e-300))

    def _explicit(self) -> Inexact[Array, "n m"]:
        name = "ungqr" if np.iscomplexobj(self._reflections) else "orgqr"
        (form,) = sla.get_lapack_funcs((name,), (self._reflections,))
        q, _, _ = form(self._reflections, self._tau, lwork=64 * self.columns)
        return np.ascontiguousarray(q[: self.rows].conj().T)

    def solve(self, b: Inexact[Array, " m"]) -> Inexact[Array, " n"]:
        """The minimiser x for one right-hand side, infinite where it is too large for a float."""
        b, exponent = scaled(b)
        if self._adjoint is not None:
            y = self._adjoint @ b
        else:
            stacked = np.zeros((self.rows + self.columns, 1), dtype=self._reflections.dtype)
            stacked[: self.rows, 0] = b
            adjoint = "C" if np.iscomplexobj(stacked) else "T"
            y, _, _ = self._apply(
                "L", adjoint, self._reflections, self._tau, stacked, lwork=64, overwrite_c=True
            )
            y = y[: self.columns, 0]
        x = sla.solve_triangular(self.triangle, y, check_finite=False)
        return shifted(x, exponent - self._exponent)

    def followed_by(self, triangle: Inexact[Array, "n n"]) -> Inexact[Array, "n m"]:
        """The matrix of b ↦ T·x for an upper triangle T and the minimiser x: T·R⁻¹·Qᴴ.

        T·R⁻¹ is formed first. Where both triangles come from nearly the same functions it is of
        moderate size, however ill-conditioned each of them is.
        """
        left = sla.solve_triangular(
            self.triangle, triangle.T.astype(self.triangle.dtype), trans=1, check_finite=False
        ).T
        adjoint = self._adjoint if self._adjoint is not None else self._explicit()
        return shifted(left @ adjoint, -self._exponent)


def scaled(array: Inexact[Array, "..."]) -> tuple[Inexact[Array, "..."], int]:
    """array · 2⁻ᵏ, which costs no digits, and k: 0 unless its squares might overflow or vanish."""
    with np.errstate(over="ignore", under="ignore"):
        ordinary = 1e-60 < np.linalg.norm(array) < 1e60
    if ordinary:  # nothing is copied then
        return array, 0
    largest = np.max(np.abs(_real_parts(array)), initial=0.0)
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return shifted(array, -exponent), exponent


def shifted(array: Inexact[Array, "..."], exponent: int) -> Inexact[Array, "..."]:
    """array · 2ᵏ, infinite where that is too large for floating point."""
    if exponent == 0:
        return array
    with np.errstate(over="ignore", under="ignore"):
        moved = np.ldexp(_real_parts(array), exponent)
    return moved.view(array.dtype) if np.iscomplexobj(array) else moved


def _real_parts(array: Inexact[Array, "..."]) -> Array:
    """Real and imaginary parts side by side; a real array as it is."""
    if not np.iscomplexobj(array):
        return array
    return np.ascontiguousarray(array).view(np.finfo(array.dtype).dtype)
