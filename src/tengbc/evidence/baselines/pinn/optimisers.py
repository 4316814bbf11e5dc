"""The two ways to train: quasi-Newton steps, and natural gradients.

**BFGS**, self-scaled, with a dense inverse Hessian H. After a step s with the change y of the
gradient, and with b = sᵀH⁻¹s / yᵀs, h = yᵀHy / yᵀs,

    H ← (H − Hy yᵀH / yᵀHy + φ vvᵀ) / τ + ssᵀ / yᵀs,   v = √(yᵀHy) (s / yᵀs − Hy / yᵀHy).

BFGS itself is φ = τ = 1. Self-scaling takes τ = min(1, 1/b), which shrinks an H⁻¹ that has been too
large; the self-scaled Broyden family (Al-Baali; Urbán, Stefanou & Pons, 2025) chooses φ too.

**Energy natural gradient**: the gradient seen through the residual's own metric. With rows r(θ) and
J = ∂r/∂θ the step is δ = (JᵀJ + λI)⁻¹Jᵀr, or the same in kernel form, δ = Jᵀ(JJᵀ + λI)⁻¹r,
whichever matrix is smaller; then the best of θ − 2⁻ᵏδ is taken.
"""

import warnings

import numpy as np
import scipy.linalg
from jaxtyping import Float
from scipy.optimize import line_search

Array = np.ndarray
_symmetric_product, _rank_one = scipy.linalg.get_blas_funcs(("symv", "syr"), dtype=np.float64)
SIZES = 0.5 ** np.arange(0, 14, 1.0)
"""Step sizes of the line search."""
FACTORS = {0: 0.2, 1: 0.5, 2: 0.7, 3: 1.0, 4: 2.0}
"""How λ changes after a step of size 2⁻ᵏ."""
DAMPING_RANGE = (1e-15, 1e-2)
"""Bounds of λ, as parts of the largest diagonal entry."""


def _self_scaled_broyden(b: float, h: float, size: int) -> tuple[float, float]:
    """(φ, τ) of the self-scaled Broyden family, from b, h and the number of parameters."""
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

    def __init__(self, rows, theta: Float[Array, " p"]):
        self.rows, self.theta = rows, theta
        self.loss, self.gradient = rows.loss_and_gradient(theta)
        self._inverse, self._fresh = np.asfortranarray(np.eye(len(theta))), True
        self._known: tuple[bytes, float, Array] | None = None

    def step(self) -> bool:
        """One line search and one update of H; False if no progress is possible any more."""
        if self._try():
            return True
        if self._fresh:
            return False
        # A lost direction: forget the past once, then try along the gradient.
        self._inverse, self._fresh = np.asfortranarray(np.eye(len(self.theta))), True
        return self._try()

    def _try(self) -> bool:
        direction = -_symmetric_product(1.0, self._inverse, self.gradient)
        if self._fresh:
            direction /= max(float(np.linalg.norm(direction)), 1e-300)
        loss_at = lambda theta: self._evaluate(theta)[0]
        gradient_at = lambda theta: self._evaluate(theta)[1]
        start = (self.theta, direction, self.gradient, self.loss)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failed search is answered, not shown
            size, *_ = line_search(loss_at, gradient_at, *start, c2=0.9, maxiter=20)
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
        phi, tau = _self_scaled_broyden(b, h, len(s))
        v = np.sqrt(yhy) * (s / ys - hy / yhy)
        # Only the upper triangle is kept: the product reads no other.
        self._inverse = _rank_one(-1.0 / yhy, hy, a=self._inverse, overwrite_a=1)
        self._inverse = _rank_one(phi, v, a=self._inverse, overwrite_a=1)
        if tau != 1.0:
            self._inverse /= tau
        self._inverse = _rank_one(1.0 / ys, s, a=self._inverse, overwrite_a=1)


class Engd:
    """One step after another, as `Bfgs`."""

    def __init__(self, rows, theta: Float[Array, " p"], damping: float = 1e-8):
        self.rows, self.theta, self.damping = rows, theta, damping
        self.loss = float(rows.losses(theta, np.zeros_like(theta), SIZES)[0])

    def step(self) -> bool:
        """One natural gradient and a line search; False if no progress is possible any more."""
        gram, right, jacobian = self._system()
        while True:
            z = _solve_damped(gram, right, self.damping)
            step = z if jacobian is None else jacobian.T @ z
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

    def _system(self) -> tuple[Array, Array, Array | None]:
        """(G + λI) z = right, and J if δ = Jᵀz, which is the kernel form."""
        size = len(self.theta)
        if self.rows.count < size:
            parts = list(self.rows.chunks(self.theta))
            jacobian = np.concatenate([jacobian for _, jacobian in parts])
            residual = np.concatenate([residual for residual, _ in parts])
            return jacobian @ jacobian.T, residual, jacobian
        gram, gradient = np.zeros((size, size)), np.zeros(size)
        for residual, jacobian in self.rows.chunks(self.theta):
            gram += jacobian.T @ jacobian
            gradient += jacobian.T @ residual
        return gram, gradient, None


def _solve_damped(gram: Array, right: Array, damping: float) -> Array:
    """z with (G + λI) z = right, λ being `damping` in units of the largest entry, or a bit more."""
    unit = float(np.max(np.diag(gram))) or 1.0
    for extra in (1.0, 1e2, 1e4, 1e6, 1e8):
        shifted = gram.copy()
        shifted[np.diag_indices_from(shifted)] += extra * damping * unit
        try:
            factor = scipy.linalg.cho_factor(shifted, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            continue  # below rounding: damp more
        return scipy.linalg.cho_solve(factor, right, check_finite=False)
    return right
