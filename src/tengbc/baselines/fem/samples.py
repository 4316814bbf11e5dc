"""Values of a coefficient at fixed points, evaluated no more often than it changes."""

import jax
import numpy as np
from jaxtyping import Float

from tengbc.coefficient import Coefficient
from tengbc.errors import NonFiniteError

Array = np.ndarray
Times = Float[np.ndarray, " s"]
BLOCK = 64
"""Times evaluated in one go: a call of compiled code costs more than a small boundary's values."""
MOST_VALUES = 2**22


class Samples:
    """c(xᵢ, t) at points x of any layout (…, 2); `schedule` lists the times to come, ascending."""

    def __init__(
        self, c: Coefficient, points: Float[Array, "... 2"], schedule: Times | None = None
    ):
        self.time_dependent = c.time_dependent
        self._coefficient, self._layout = c, points.shape[:-1]
        self._points = points.reshape(-1, 2)
        self._schedule = np.zeros(0) if schedule is None else schedule
        room = max(1, min(BLOCK, MOST_VALUES // max(1, len(self._points))))
        self._block = room if len(self._schedule) else 1
        self._known: dict[float, Array] = {}
        over_points = jax.vmap(c, in_axes=(0, None))
        self._evaluate = jax.jit(jax.vmap(over_points, in_axes=(None, 0)))

    def __call__(self, t: float) -> Float[Array, "..."]:
        """The values at time t, of shape (…) or for a vector coefficient (…, 2)."""
        t = float(t) if self.time_dependent else 0.0
        if t not in self._known:
            self._look_ahead(t)
        return self._known[t]

    def _look_ahead(self, t: float) -> None:
        first = np.searchsorted(self._schedule, t)
        times = self._schedule[first : first + self._block]
        if not len(times) or times[0] != t:
            times = np.array([t])
        size = self._block if len(times) > 1 else 1
        padded = np.concatenate([times, np.full(size - len(times), t)])
        if self._coefficient.constant:
            value = np.asarray(self._coefficient.value, dtype=np.float64)
            values = np.broadcast_to(value, (size, len(self._points), *value.shape))
        else:
            with jax.enable_x64(True):
                values = np.asarray(self._evaluate(self._points, padded), dtype=np.float64)
        self._check(values, padded)
        values = values.reshape(size, *self._layout, *values.shape[2:])
        self._known = dict(zip(times.tolist(), values, strict=False))

    def _check(self, values: Array, times: Array) -> None:
        if np.isfinite(values).all():
            return
        when, where = np.argwhere(~np.isfinite(values.reshape(*values.shape[:2], -1)))[0][:2]
        x, y = self._points[where]
        raise NonFiniteError(
            f"A coefficient of the problem is not finite at ({x:.6g}, {y:.6g}), "
            f"t = {times[when]:g}; correct the function."
        )
