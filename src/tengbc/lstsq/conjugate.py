"""Damped least squares by conjugate gradients behind a Cholesky factor of the Gram matrix."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc.lstsq.regularised import scaled, shifted
from tengbc.lstsq.spectrum import EPS, LeastSquaresResult

Array = np.ndarray
FLOOR = 1e-7
"""Singular values below this part of the largest are lost in the round-off of AᵀA."""
ENOUGH = 0.1
"""Iterations end once the step they would take next is this part of the residual."""
MOST = 30
"""Iterations at most."""
CLEARLY = 100
"""So many times the damping's square what a column adds must be, squared, to count."""


class ConjugateGradients:
    """min ‖b − Ax‖² + (cσ)²‖x‖² for any c, where σ² = ‖AᵀA‖, about A's largest singular value.

    Directions with singular values below cσ hardly take part, as if they were cut off. AᵀA is the
    cheapest thing to form and to factor, but small singular values are lost in it. So its Cholesky
    factor, damped by FLOOR at least, only preconditions conjugate gradients (CGLS), which multiply
    with A itself: a handful of them do what singular values would.

    **Arguments:** `transposed`, Aᵀ, row by row A's columns; `b`, the right-hand side.
    """

    def __init__(self, transposed: Float[Array, "n m"], b: Float[Array, " m"]):
        # Powers of two are taken out, so that squares neither overflow nor vanish.
        self.transposed, self._exponent = scaled(transposed)
        self.right, self._exponent_right = scaled(b)
        self.gram = self.transposed @ self.transposed.T
        self.scale = float(np.sqrt(np.linalg.norm(self.gram)))

    def solve(self, cutoff: float) -> LeastSquaresResult:
        """The minimum with c = `cutoff`, which counts as rounding if it is below that.

        `rank` counts the columns of which clearly more than the damping lies outside the span of
        those before them.
        """
        cutoff = max(cutoff, EPS * max(self.transposed.shape))
        factor, shift = self._factor(cutoff)
        damping = (cutoff * self.scale) ** 2
        x, residual = np.zeros(len(self.gram)), self.right
        gradient = self.transposed @ residual
        direction, before = np.zeros_like(x), np.inf
        for _ in range(MOST):
            preconditioned = sla.cho_solve((factor, True), gradient, check_finite=False)
            slope = float(gradient @ preconditioned)
            if not slope > ENOUGH**2 * float(residual @ residual) * (before < np.inf):
                break
            direction = preconditioned + slope / before * direction
            image = direction @ self.transposed
            length = slope / (float(image @ image) + damping * float(direction @ direction))
            x, residual = x + length * direction, residual - length * image
            gradient, before = self.transposed @ residual - damping * x, slope
        left = float(np.linalg.norm(residual))
        return LeastSquaresResult(
            x=shifted(x, self._exponent_right - self._exponent),
            rank=int(np.count_nonzero(np.diag(factor) ** 2 > CLEARLY * shift)),
            condition=max(1 / cutoff, 1.0),
            residual=float(shifted(np.array([left]), self._exponent_right)[0]),
        )

    def again(self, b: Float[Array, " m"], cutoff: float) -> Float[Array, " n"]:
        """x for another right-hand side, with c = `cutoff` but FLOOR at least: one solve."""
        right, exponent = scaled(b)
        factor, _ = self._factor(cutoff)
        x = sla.cho_solve((factor, True), self.transposed @ right, check_finite=False)
        return shifted(x, exponent - self._exponent)

    def _factor(self, cutoff: float) -> tuple[Float[Array, "n n"], float]:
        """L with LLᵀ = AᵀA + shift, and the shift: (cσ)², raised where rounding demands it."""
        shift = (max(cutoff, FLOOR) * self.scale) ** 2 or 1.0
        while True:
            matrix = self.gram.copy()
            matrix[np.diag_indices_from(matrix)] += shift
            try:
                factor = sla.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
                return factor, shift
            except np.linalg.LinAlgError:
                shift *= 10
