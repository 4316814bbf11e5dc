"""The grid of times: t_n = t₀ + n·Δt, never accumulated, the last one exactly T."""

import math
from dataclasses import dataclass

from tengbc.errors import UsageError

MOST_STEPS = 1e8
"""More than anyone has the patience for: a slip in dt or t_end."""


@dataclass(frozen=True)
class Clock:
    """`steps` equal steps from 0 to `end`."""

    end: float
    steps: int

    @property
    def dt(self) -> float:
        """The step Δt."""
        return self.end / self.steps

    def time(self, n: int) -> float:
        """t_n; `end` itself for the last."""
        return self.end if n == self.steps else self.end * n / self.steps


def clock(end: float, dt: float, multiple: int = 1) -> Clock:
    """Steps of at most Δt that land on the end, their number a multiple of `multiple`."""
    for name, value in (("t_end", end), ("dt", dt)):
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    if end / dt > MOST_STEPS:
        raise UsageError(f"dt is {dt:g}, which makes {end / dt:.0e} steps; take a larger dt.")
    steps = math.ceil(end / dt * (1 - 1e-12))
    return Clock(float(end), multiple * math.ceil(steps / multiple))
