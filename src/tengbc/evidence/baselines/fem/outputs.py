"""The states asked for, taken from the steps of a march."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

Array = np.ndarray
NODES = 6
"""Steps that an output between them interpolates: its error O(Δt⁶) is below every scheme's."""


class Outputs:
    """Collects states at given times, ascending, while a march goes by in equal steps.

    An output that falls on a step is that step's state. Any other is read off the polynomial
    through the six nearest steps, so that Δt is free and one factorisation serves all steps.
    """

    def __init__(self, times: Float[Array, " k"], unknowns: int):
        self.times = times
        self.values = np.zeros((len(times), unknowns))
        self._done = 0
        self._recent: list[tuple[float, Array]] = []

    def take(self, t: float, u: Float[Array, " n"], *, last: bool = False) -> None:
        """Note the state at the next step; `last` says that there will be no further one."""
        self._recent = [*self._recent[-(NODES - 1) :], (t, u)]
        if len(self._recent) < NODES and not last:
            return
        # Wait until the output lies in the middle of the known steps, where the polynomial is best.
        ready = t if last else self._recent[-NODES // 2][0]
        tolerance = 1e-12 * max(1.0, abs(t))
        while self._done < len(self.times) and self.times[self._done] <= ready + tolerance:
            self.values[self._done] = self._state(self.times[self._done], tolerance)
            self._done += 1

    @property
    def taken(self) -> tuple[Float[Array, " k"], Float[Array, "k n"]]:
        """The times that have been reached, and the states there."""
        return self.times[: self._done], self.values[: self._done]

    def _state(self, t: float, tolerance: float) -> Float[Array, " n"]:
        times = np.array([time for time, _ in self._recent])
        nearest = int(np.argmin(np.abs(times - t)))
        if abs(times[nearest] - t) <= tolerance:
            return self._recent[nearest][1]
        total = np.zeros_like(self._recent[0][1])
        for i, (time, state) in enumerate(self._recent):
            others = np.delete(times, i)
            total += np.prod((t - others) / (time - others)) * state
        return total
