"""Tall least squares over blocks of rows: the QR of each block, then that of all triangles.

    A = (A₁; …; A₈),   Aᵢ = QᵢRᵢ,   (R₁; …; R₈) = UR,   so that A = diag(Qᵢ)·U·R

(TSQR: Demmel, Grigori, Hoemmen & Langou 2012). Rows never leave their device; the triangles are
gathered by all, and what follows is small and the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg as sla
from jaxtyping import Float, Inexact

from tengbc.lstsq.blocks import RowBlocks
from tengbc.lstsq.conjugate import CLEARLY, FLOOR
from tengbc.lstsq.spectrum import EPS, LeastSquaresResult, Spectrum, of_triangle

Array = np.ndarray
Rows = Callable[[Any, Any], jax.Array]
"""The matrix of a block, from what is shared and from the block's rows."""


def block_triangles(matrix: Rows) -> Callable[[Any, Any], jax.Array]:
    """For `RowBlocks.program`: the triangle of a block's matrix."""
    return lambda shared, rows: jnp.linalg.qr(matrix(shared, rows), mode="r")


def block_factors(matrix: Rows) -> Callable[[Any, Any], tuple[jax.Array, jax.Array]]:
    """For `RowBlocks.program`: both factors of a block's matrix."""

    def factors(shared, rows) -> tuple[jax.Array, jax.Array]:
        orthogonal, triangle = jnp.linalg.qr(matrix(shared, rows))
        return orthogonal, triangle

    return factors


def whole_triangle(triangles: Inexact[Array, "b k n"]) -> Inexact[Array, "n n"]:
    """The triangle of all rows, from those of the blocks; zero rows where there are too few."""
    stacked = triangles.reshape(-1, triangles.shape[-1])
    missing = max(stacked.shape[1] - len(stacked), 0)
    stacked = np.concatenate([stacked, np.zeros((missing, stacked.shape[1]), stacked.dtype)])
    found = cast("tuple[Array]", sla.qr(stacked, mode="r", check_finite=False))
    return found[0][: stacked.shape[1]]


class TallLeastSquares:
    """min ‖b − Ax‖ by the triangle of [A | b] alone; cut off (`svd`) or damped (`gram`).

    The damped answer is that of `ConjugateGradients`, found by one more QR instead of iterations.

    **Arguments:** `triangle`, of [A | b]; `adjoint`, b ↦ Aᵀb for another right-hand side.
    """

    def __init__(
        self,
        triangle: Float[Array, "k k"],
        adjoint: Callable[[Float[Array, "..."]], Float[Array, " n"]],
        method: str,
    ):
        self.triangle, self.adjoint, self.method = triangle, adjoint, method
        self.square, self.right = triangle[:-1, :-1], triangle[:-1, -1]
        self.scale = float(np.sqrt(np.linalg.norm(self.square.T @ self.square)))

    @cached_property
    def _spectrum(self) -> Spectrum:
        n = len(self.square)
        singular, directions, coefficients, outside = of_triangle(self.triangle, n)
        lost = EPS * n * singular.max(initial=0.0)
        singular = np.where(singular > lost, singular, 0.0)
        return Spectrum(singular, directions, coefficients, outside, np.zeros((n, 0)))

    def solve(self, cutoff: float) -> LeastSquaresResult:
        """Singular values below `cutoff` times the largest are dropped, or damped."""
        if self.method == "svd":
            return self._spectrum.solve(cutoff)
        cutoff = max(cutoff, EPS * len(self.square))
        factor, damping = self._damped(cutoff)
        n = len(self.square)
        x = sla.solve_triangular(factor[:n, :n], factor[:n, n], check_finite=False)
        left = np.linalg.norm(self.right - self.square @ x)
        return LeastSquaresResult(
            x=x,
            rank=int(np.count_nonzero(np.diag(factor)[:n] ** 2 > CLEARLY * damping**2)),
            condition=max(1 / cutoff, 1.0),
            residual=float(np.hypot(left, self.triangle[-1, -1])),
        )

    def again(self, b: Float[Array, "..."], cutoff: float) -> Float[Array, " n"]:
        """x for another right-hand side, by Aᵀb: one product, one small solve."""
        product = self.adjoint(b)
        if self.method == "svd":
            return self._spectrum.by_product(product, cutoff)
        factor, _ = self._damped(max(cutoff, FLOOR))
        square = factor[: len(product), : len(product)]
        half = sla.solve_triangular(square, product, trans=1, check_finite=False)
        return sla.solve_triangular(square, half, check_finite=False)

    def _damped(self, cutoff: float) -> tuple[Float[Array, "k k"], float]:
        """The triangle of [A | b] stacked on the damping cσ, and cσ."""
        damping, n = cutoff * self.scale or 1.0, len(self.square)
        return whole_triangle(np.stack([self.triangle, np.eye(n + 1) * damping])), damping


class RegularisedTallQR:
    """What `RegularisedQR` is on one host: QR of A stacked on λ times the identity.

    Each device keeps the orthogonal factor of its blocks; a solve gathers vectors of the length of
    x. `damping` is relative to the root mean square of the columns' norms.
    """

    def __init__(self, blocks: RowBlocks, factors: tuple[jax.Array, jax.Array], damping: float):
        self.blocks = blocks
        self._orthogonal, triangles = factors
        gathered = blocks.gather(triangles)
        _, kept, columns = gathered.shape
        stacked = gathered.reshape(-1, columns)
        scale = float(np.linalg.norm(stacked)) / np.sqrt(columns) or 1.0
        stacked = np.concatenate([stacked, damping * scale * np.eye(columns)])
        upper, self.triangle = cast(
            "tuple[Array, Array]", sla.qr(stacked, mode="economic", check_finite=False)
        )
        upper = upper[: blocks.count * kept].reshape(blocks.count, kept, columns)
        own = slice(blocks.range.start, blocks.range.stop)
        self._upper = blocks.placed(np.ascontiguousarray(upper[own]))
        diagonal = np.abs(np.diag(self.triangle))
        self.condition = float(diagonal.max() / max(diagonal.min(), 1e-300))

    def solve(self, b: Inexact[Array, "own k"]) -> Inexact[Array, " n"]:
        """The minimiser x; `b` are this process's rows of the right-hand side."""
        y = _projected(self.blocks)(None, (self._orthogonal, self._upper, b))
        return sla.solve_triangular(self.triangle, self.blocks.sum(y), check_finite=False)


@cache
def _projected(blocks: RowBlocks) -> Callable[[Any, Any], jax.Array]:
    """What a block adds to (diag(Qᵢ)·U)ᴴb."""

    def block(_, rows):
        orthogonal, upper, b = rows
        return upper.conj().T @ (orthogonal.conj().T @ b)

    return blocks.program(block)
