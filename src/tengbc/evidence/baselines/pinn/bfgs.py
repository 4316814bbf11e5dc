"""Quasi-Newton steps: BFGS and its self-scaled relatives, with a dense inverse Hessian.

After a step s with the change y of the gradient, and with b = sᵀH⁻¹s / yᵀs, h = yᵀHy / yᵀs,

    H ← (H − Hy yᵀH / yᵀHy + φ vvᵀ) / τ + ssᵀ / yᵀs,   v = √(yᵀHy) (s / yᵀs − Hy / yᵀHy).

BFGS is φ = τ = 1. Self-scaling takes τ = min(1, 1/b), which shrinks an H⁻¹ that has been too large;
the self-scaled Broyden family (Al-Baali; Urbán, Stefanou & Pons, 2025) chooses φ too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_blas_funcs
from scipy.optimize import line_search

Array = np.ndarray
_symmetric_product, _rank_one = get_blas_funcs(("symv", "syr"), dtype=np.float64)
Formula = Callable[[float, float, int], tuple[float, float]]
"""(φ, τ) from b, h and the number of parameters."""


def plain(b: float, h: float, size: int) -> tuple[float, float]:
    """BFGS."""
    return 1.0, 1.0


def self_scaled(b: float, h: float, size: int) -> tuple[float, float]:
    """Self-scaled BFGS."""
    return 1.0, min(1.0, 1.0 / b)


def self_scaled_broyden(b: float, h: float, size: int) -> tuple[float, float]:
    """The self-scaled Broyden family."""
    a = max(h * b - 1.0, 1e-12)
    smallest = min(1.0, h * (1.0 - np.sqrt(a / (1.0 + a))))
    theta = max((smallest - 1.0) / a, min(1.0 / smallest, (1.0 - b) / b))
    sigma = max(1.0 + theta * a, 1e-12)
    root = sigma ** (-1.0 / (size - 1))
    tau = min(1.0, 1.0 / b)
    tau = tau * min(root, 1.0 / theta) if theta > 0 else min(tau * root, sigma)
    return (1.0 - theta) / (1.0 + a * theta), tau


class Bfgs:
    """One step after another; `step` gives the new θ and its loss, or None when it can no more."""

    def __init__(self, rows, theta: Float[Array, " p"], formula: Formula = self_scaled_broyden):
        self.rows, self.theta, self.formula = rows, theta, formula
        self.loss, self.gradient = rows.loss_and_gradient(theta)
        self._inverse = np.asfortranarray(np.eye(len(theta)))
        self._fresh = True
        self._known: tuple[bytes, float, Array] | None = None

    def step(self) -> bool:
        """One line search and one update of H; False if no progress is possible any more."""
        for _ in range(2):
            if self._try():
                return True
            if self._fresh:
                return False
            # A lost direction: forget the past once, then try along the gradient.
            self._inverse = np.asfortranarray(np.eye(len(self.theta)))
            self._fresh = True
        return False

    def _try(self) -> bool:
        direction = -_symmetric_product(1.0, self._inverse, self.gradient)
        if self._fresh:
            direction /= max(float(np.linalg.norm(direction)), 1e-300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failed search is answered, not shown
            size, *_ = line_search(
                lambda theta: self._evaluate(theta)[0],
                lambda theta: self._evaluate(theta)[1],
                self.theta,
                direction,
                self.gradient,
                self.loss,
                c2=0.9,
                maxiter=20,
            )
        if size is None:
            return False
        theta = self.theta + size * direction
        loss, gradient = self._evaluate(theta)
        if not loss < self.loss:
            return False
        self._update(theta - self.theta, gradient - self.gradient, size)
        self.theta, self.loss, self.gradient = theta, loss, gradient
        return True

    def _evaluate(self, theta: Float[Array, " p"]) -> tuple[float, Array]:
        # The search asks for value and gradient at the same place one after the other.
        key = theta.tobytes()
        if self._known is None or self._known[0] != key:
            loss, gradient = self.rows.loss_and_gradient(theta)
            self._known = (key, loss if np.isfinite(loss) else 1e300, gradient)
        return self._known[1:]

    def _update(self, s: Float[Array, " p"], y: Float[Array, " p"], size: float) -> None:
        ys = float(y @ s)
        if ys <= 1e-300:
            return
        if self._fresh:
            self._inverse *= ys / float(y @ y)
            self._fresh = False
            size = 0.0  # H⁻¹s is not −size·gradient for the new H
        hy = _symmetric_product(1.0, self._inverse, y)
        yhy = float(y @ hy)
        curvature = -size * float(s @ self.gradient) if size else ys * ys / yhy
        b, h = max(curvature / ys, 1e-12), yhy / ys
        phi, tau = self.formula(b, h, len(s))
        v = np.sqrt(yhy) * (s / ys - hy / yhy)
        # Only the upper triangle is kept: the product reads no other.
        self._inverse = _rank_one(-1.0 / yhy, hy, a=self._inverse, overwrite_a=1)
        self._inverse = _rank_one(phi, v, a=self._inverse, overwrite_a=1)
        if tau != 1.0:
            self._inverse /= tau
        self._inverse = _rank_one(1.0 / ys, s, a=self._inverse, overwrite_a=1)
