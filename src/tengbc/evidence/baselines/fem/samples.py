"""Values of coefficients at fixed points, evaluated no more often than they change."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import numpy as np
from jaxtyping import Float

from tengbc.coefficient import Coefficient
from tengbc.errors import NonFiniteError
from tengbc.geometry.points import point_text

Array = np.ndarray
Schedule = Float[np.ndarray, " s"]
BLOCK = 64
"""Times evaluated in one go: a call of compiled code costs more than a small boundary's values."""
MOST_VALUES = 2**22


class Samples:
    """c(xᵢ, t), or its gradient, at points x of any layout (…, 2).

    `schedule` lists the times to come, ascending, if they are known.
    """

    def __init__(
        self,
        c: Coefficient,
        points: Float[Array, "... 2"],
        schedule: Schedule | None = None,
        *,
        gradient: bool = False,
    ):
        self.time_dependent = c.time_dependent
        self._coefficient, self._gradient, self._layout = c, gradient, points.shape[:-1]
        self._points = points.reshape(-1, 2)
        self._schedule = np.zeros(0) if schedule is None else schedule
        room = max(1, min(BLOCK, MOST_VALUES // max(1, len(self._points))))
        self._block = room if len(self._schedule) else 1
        self._known: dict[float, Array] = {}

    def __call__(self, t: float) -> Float[Array, "..."]:
        """The values at time t, of shape (…) or for a vector (…, 2)."""
        t = float(t) if self.time_dependent else 0.0
        if t not in self._known:
            self._look_ahead(t)
        return self._known[t]

    def _look_ahead(self, t: float) -> None:
        first = np.searchsorted(self._schedule, t)
        times = self._schedule[first : first + self._block]
        if not self.time_dependent or not len(times) or times[0] != t:
            times = np.array([t])
        size = self._block if len(times) > 1 else 1  # few sizes, few compilations
        padded = np.concatenate([times, np.full(size - len(times), t)])
        values = self._evaluate(padded)
        bad = np.argwhere(~np.isfinite(values.reshape(size, len(self._points), -1)))
        if len(bad):
            when, where, _ = bad[0]
            raise NonFiniteError(
                f"A coefficient of the problem is not finite at {point_text(self._points[where])}, "
                f"t = {padded[when]:g}; correct the function."
            )
        values = values.reshape(size, *self._layout, *values.shape[2:])
        self._known = dict(zip(times.tolist(), values, strict=False))

    def _evaluate(self, times: Schedule) -> Float[Array, "s n ..."]:
        c, count = self._coefficient, len(self._points)
        if c.constant:
            value = np.zeros(2) if self._gradient else np.asarray(c.value, dtype=np.float64)
            return np.broadcast_to(value, (len(times), count, *value.shape))
        with jax.enable_x64(True):
            at = compiled(c.value, c.arguments, self._gradient)
            return np.asarray(at(self._points, times), dtype=np.float64)


@functools.lru_cache(maxsize=128)
def compiled(function: Callable, arguments: tuple[str, ...], gradient: bool) -> Callable:
    """A function of x or (x, t), or its gradient, for all pairs of points and times.

    Kept by function, so that solving the same problem again compiles nothing twice.
    """
    c = Coefficient(function, arguments)
    pointwise = jax.grad(c) if gradient else c
    return jax.jit(jax.vmap(jax.vmap(pointwise, in_axes=(0, None)), in_axes=(None, 0)))


class Computed:
    """A function of several samples, computed anew only when one of them changes in time."""

    def __init__(self, function: Callable[..., Array], *parts: Samples | Computed):
        self.time_dependent = any(part.time_dependent for part in parts)
        self._function, self._parts = function, parts
        self._steady: Array | None = None

    def __call__(self, t: float) -> Float[Array, "..."]:
        """The value at time t."""
        if self._steady is not None:
            return self._steady
        value = self._function(*(part(t) for part in self._parts))
        if not self.time_dependent:
            self._steady = value
        return value


def total(parts: list[Samples]) -> Samples | Computed | None:
    """The sum of samples, or None of none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return Computed(lambda *values: np.sum(values, axis=0), *parts)
