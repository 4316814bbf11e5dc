"""Evaluate a pointwise function at one point or many, in float64."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from tengbc.errors import NonFiniteError, ProblemError, UsageError
from tengbc.programs import Vectorised
from tengbc.types import Time, Value


class Evaluator:
    """A pointwise jax.numpy function of (x, t) for one point (d,) or many (n, d).

    Works in float64 whatever precision JAX is set to, leaves that setting alone, returns NumPy.
    Where the function is known to be a `number` (or an array), nothing is traced.
    """

    def __init__(self, function: Callable[..., Value], dim: int, number: Any = None):
        self.dim = dim
        self._at_points = Vectorised(function, in_axes=(0, None))
        self._number = number

    def __call__(self, x, t: Time) -> Float[np.ndarray, "..."]:
        points = as_points(x, self.dim)
        many, time = points.ndim == 2, as_time(t)
        if self._number is not None:
            number = np.asarray(self._number, dtype=np.float64)
            return np.array(np.broadcast_to(number, (*points.shape[:-1], *number.shape)))
        values = self._at_points(points if many else points[None], time)
        return np.asarray(values if many else values[0], dtype=np.float64)

    def along(self, x: Float[np.ndarray, "n d"], t: float, *directions) -> dict[int, np.ndarray]:
        """Values and derivatives along directions (dx, dt), as `Vectorised.along` gives them."""
        if self._number is not None:
            value = self(x, t)
            keys = range(1, 1 << len(directions))
            return {0: value, **dict.fromkeys(keys, np.zeros_like(value))}
        return self._at_points.along((x, float(t)), *directions)


def as_points(x, dim: int) -> Float[np.ndarray, "..."]:
    """One point (d,) or many (n, d) as float64, on an interval also (n,); else an error."""
    _check_untraced(x, "Points")
    try:
        points = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            f"Points are given as {type(x).__name__}, which is no array of numbers; give one of "
            f"shape (n, {dim}), such as domain.interior(n=1000).x."
        ) from None
    if dim == 1 and (points.ndim == 0 or (points.ndim == 1 and points.size != 1)):
        points = points.reshape((*points.shape, 1))
    if points.ndim not in (1, 2) or points.shape[-1] != dim:
        raise UsageError(
            f"Points have shape {points.shape}, but in dimension {dim} one point has shape "
            f"({dim},) and n points have shape (n, {dim}); reshape them."
        )
    return points


def as_time(t) -> float:
    """One time as a float; anything else is an error."""
    _check_untraced(t, "t")
    try:
        return float("" if isinstance(t, str | bytes) else t)
    except (TypeError, ValueError):
        raise UsageError(
            f"t is {t!r}, but it must be one number; ask for one time, and for values at several "
            f"with solution.at_times(x, times)."
        ) from None


def as_times(t) -> list[float]:
    """One time or several, as floats."""
    _check_untraced(t, "t")
    return [as_time(time) for time in np.atleast_1d(np.asarray(t, dtype=object))]


def _check_untraced(value, what: str) -> None:
    """Refuse what jax.grad, jit or vmap put in the place of numbers."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(value)):
        raise UsageError(
            f"{what}: a solution is evaluated outside jax.grad, jit and vmap; take many points at "
            f"once instead of vmap, and solution.gradient(x, t) for ∇u."
        )


DURING_A_RUN = (
    "the state before it is kept, so check that function there, or take a smaller time step if the "
    "run was diverging"
)


def check_finite(
    what: str, values: np.ndarray, x: np.ndarray, t: float, advice: str = DURING_A_RUN
) -> None:
    """Stop at the first NaN or infinity, naming the function, the time and the point."""
    finite = np.isfinite(values)
    if finite.all():
        return
    point = x[np.flatnonzero(~finite.reshape(len(x), -1).all(axis=1))[0]]
    where = ", ".join(f"{coordinate:.6g}" for coordinate in point)
    raise NonFiniteError(f"{what} is not finite at t = {t:.6g}, x = ({where}); {advice}.")


def check_condition(segment: str, linear_part: np.ndarray, t: float) -> None:
    """Stop at a condition into which u does not enter; `linear_part` is its derivative by u."""
    if linear_part.size and not linear_part.any():  # one without rows imposes nothing, on purpose
        raise ProblemError(
            f"The condition on {segment} says nothing about u at t = {t:.6g}, where neither u nor "
            f"∂ₙu enters it; give one that does."
        )
