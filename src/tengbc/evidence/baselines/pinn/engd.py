"""Energy natural gradient: the gradient seen through the residual's own metric.

With rows r(θ) and J = ∂r/∂θ the step is δ = (JᵀJ + λI)⁻¹Jᵀr, or the same in kernel form,
δ = Jᵀ(JJᵀ + λI)⁻¹r, whichever matrix is smaller; then the best of θ − 2⁻ᵏδ is taken.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from jaxtyping import Float

Array = np.ndarray
SIZES = 0.5 ** np.arange(0, 14, 1.0)
"""Step sizes of the line search."""
FACTORS = {0: 0.2, 1: 0.5, 2: 0.7, 3: 1.0, 4: 2.0}
"""How λ changes after a step of size 2⁻ᵏ."""
DAMPING_RANGE = (1e-15, 1e-2)
"""Bounds of λ, as parts of the largest diagonal entry."""


class Engd:
    """One step after another, as `Bfgs`."""

    def __init__(self, rows, theta: Float[Array, " p"], damping: float = 1e-8):
        self.rows, self.theta, self.damping = rows, theta, damping
        self.loss = float(rows.losses(theta, np.zeros_like(theta), SIZES)[0])

    def step(self) -> bool:
        """One natural gradient and a line search; False if no progress is possible any more."""
        system = self._system()
        while True:
            step = system.solve(self.damping)
            losses = self.rows.losses(self.theta, step, SIZES)
            best = int(np.argmin(np.where(np.isfinite(losses), losses, np.inf)))
            if losses[best] < self.loss:
                break
            if self.damping >= DAMPING_RANGE[1]:
                return False
            self.damping = min(100 * self.damping, DAMPING_RANGE[1])
        # A full step says that the linear model is good, a small one that it reached too far.
        factor = FACTORS.get(best, FACTORS[len(FACTORS) - 1])
        self.damping = float(np.clip(self.damping * factor, *DAMPING_RANGE))
        self.theta = self.theta - SIZES[best] * step
        self.loss = float(losses[best])
        return True

    def _system(self) -> _System:
        size = len(self.theta)
        if self.rows.count < size:
            parts = list(self.rows.chunks(self.theta))
            jacobian = np.concatenate([jacobian for _, jacobian in parts])
            residual = np.concatenate([residual for residual, _ in parts])
            return _System(jacobian @ jacobian.T, residual, jacobian)
        gram, gradient = np.zeros((size, size)), np.zeros(size)
        for residual, jacobian in self.rows.chunks(self.theta):
            gram += jacobian.T @ jacobian
            gradient += jacobian.T @ residual
        return _System(gram, gradient, None)


class _System:
    """(G + λI) z = right; δ = z, or Jᵀz in kernel form."""

    def __init__(self, gram: Array, right: Array, jacobian: Array | None):
        self.gram, self.right, self.jacobian = gram, right, jacobian
        self.unit = float(np.max(np.diag(gram))) or 1.0

    def solve(self, damping: float) -> Float[Array, " p"]:
        for extra in (1.0, 1e2, 1e4, 1e6, 1e8):
            shifted = self.gram.copy()
            shifted[np.diag_indices_from(shifted)] += extra * damping * self.unit
            try:
                factor = scipy.linalg.cho_factor(shifted, overwrite_a=True, check_finite=False)
            except scipy.linalg.LinAlgError:
                continue  # below rounding: damp more
            z = scipy.linalg.cho_solve(factor, self.right, check_finite=False)
            return z if self.jacobian is None else self.jacobian.T @ z
        return self.right if self.jacobian is None else self.jacobian.T @ self.right
