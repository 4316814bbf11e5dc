"""A least-squares problem in its singular directions: one factorisation serves every cut-off."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.lstsq.regularised import scaled, shifted

Array = np.ndarray
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class LeastSquaresResult:
    """x of minimal norm among those that minimise ‖b − Ax‖ on the kept directions.

    `rank`: directions kept; `condition`: largest over smallest kept singular value; `residual`:
    ‖b − Ax‖. What is too large for floating point is infinite, never NaN.
    """

    x: Float[Array, " n"]
    rank: int
    condition: float
    residual: float


@dataclass(frozen=True)
class Spectrum:
    """min ‖b − Ax‖ with A = UΣVᵀ: singular values, V, the coefficients Uᵀb, what is left, and Aᵀ.

    All are those of A and b without the powers of two `exponent` and `exponent_right`, which were
    taken out so that squares neither overflow nor vanish. Singular values that are no more than
    rounding are zero.
    """

    singular: Float[Array, " k"]
    directions: Float[Array, "n k"]
    coefficients: Float[Array, " k"]
    outside: float
    transposed: Float[Array, "n m"]
    exponent: int = 0
    exponent_right: int = 0

    def solve(self, cutoff: float) -> LeastSquaresResult:
        """Drop the singular values below `cutoff` times the largest."""
        largest = self.singular[0] if self.singular.size else 0.0
        rank = self._rank(cutoff)
        kept, lost = self.coefficients[:rank], self.coefficients[rank:]
        x = self.directions[:, :rank] @ (kept / self.singular[:rank])
        residual = np.hypot(np.linalg.norm(lost), self.outside)
        return LeastSquaresResult(
            x=shifted(x, self.exponent_right - self.exponent),
            rank=rank,
            condition=float(largest / self.singular[rank - 1]) if rank else 1.0,
            residual=float(shifted(np.array([residual]), self.exponent_right)[0]),
        )

    def again(self, b: Float[Array, " m"], cutoff: float) -> Float[Array, " n"]:
        """x for another right-hand side, VΣ⁻²VᵀAᵀb over the kept directions."""
        b, exponent_right = scaled(b)
        x = self.by_product(self.transposed @ b, cutoff)
        return shifted(x, exponent_right - self.exponent)

    def by_product(self, product: Float[Array, " n"], cutoff: float) -> Float[Array, " n"]:
        """The same, Aᵀb being known: VΣ⁻²Vᵀ(Aᵀb)."""
        rank = self._rank(cutoff)
        kept = self.directions[:, :rank]
        return kept @ ((kept.T @ product) / self.singular[:rank] ** 2)

    def _rank(self, cutoff: float) -> int:
        largest = self.singular[0] if self.singular.size else 0.0
        return int(np.count_nonzero(self.singular > cutoff * largest)) if largest > 0 else 0


def spectrum(transposed: Float[Array, "n m"], b: Float[Array, " m"]) -> Spectrum:
    """Factor Aᵀ, given row by row as its n columns: QR of [A | b], then the SVD of the triangle."""
    transposed, exponent = scaled(transposed)
    b, exponent_right = scaled(b)
    factorise = _by_qr_and_svd if jax.default_backend() == "cpu" else _by_xla
    singular, directions, coefficients, outside = factorise(transposed, b)
    lost = EPS * max(transposed.shape) * singular.max(initial=0.0)
    singular = np.where(singular > lost, singular, 0.0)
    return Spectrum(
        singular, directions, coefficients, outside, transposed, exponent, exponent_right
    )


def _by_qr_and_svd(transposed: Array, b: Array):
    """Never forms Q and never squares the condition number."""
    n, m = transposed.shape
    stacked = np.empty((n + 1, m))
    stacked[:n], stacked[n] = transposed, b
    geqrf, geqrf_lwork = sla.get_lapack_funcs(("geqrf", "geqrf_lwork"), (stacked,))
    workspace = int(geqrf_lwork(m, n + 1)[0])
    # The transpose of a C-ordered array is what Fortran wants: no copy is made here.
    factor = geqrf(stacked.T, lwork=workspace, overwrite_a=1)[0]
    return of_triangle(np.triu(factor[: min(m, n + 1)]), n)


def of_triangle(triangle: Float[Array, "k w"], n: int):
    """Singular values, V, Uᵀb and what is left, from the triangle of [A | b]."""
    k = min(len(triangle), n)
    left, singular, right = _svd(triangle[:k, :n])
    coefficients = left.T @ triangle[:k, n]
    outside = abs(float(triangle[n, n])) if len(triangle) > n else 0.0
    return singular, right.T, coefficients, outside


def _svd(matrix: Array) -> tuple[Array, Array, Array]:
    try:
        return sla.svd(matrix, full_matrices=False, check_finite=False)
    except np.linalg.LinAlgError:  # divide and conquer may fail to converge; QR iteration does not
        return sla.svd(matrix, full_matrices=False, check_finite=False, lapack_driver="gesvd")


def _by_xla(transposed: Array, b: Array):
    """The same on an accelerator, where moving the matrix to the host would cost more."""
    with jax.enable_x64(True):
        left, singular, right = jnp.linalg.svd(jnp.asarray(transposed).T, full_matrices=False)
        coefficients = left.T @ b
        outside = jnp.linalg.norm(b - left @ coefficients)
    return np.asarray(singular), np.asarray(right).T, np.asarray(coefficients), float(outside)
