"""The grid of times: t_n = n·Δt, never accumulated, the last one exactly T; finer at an onset."""

import math
from dataclasses import dataclass

from tengbc.errors import UsageError

MOST_STEPS = 1e8
"""More than anyone has the patience for: a slip in dt or t_end."""
MOST_HALVINGS = 20
"""First steps are no shorter than 10⁻⁶ of the others."""


@dataclass(frozen=True)
class Onset:
    """A fast beginning: at time t steps are shorter than Δt by (t + pace)/calm, where that is < 1.

    `pace` is the time in which the solution changes at first, `calm` the one that Δt is made for.
    """

    pace: float
    calm: float

    def allows(self, t: float, part: float) -> bool:
        """Whether a step from t may be that part of Δt."""
        return part * self.calm <= t + self.pace or part <= 2.0**-MOST_HALVINGS


@dataclass(frozen=True)
class Clock:
    """Steps from 0 to `end`: `whole` equal ones, of which the first may be halved repeatedly.

    `places` are the beginnings of the steps, and `parts` their lengths, in units of Δt; both are
    empty where no step is halved.
    """

    end: float
    whole: int
    places: tuple[float, ...] = ()
    parts: tuple[float, ...] = ()

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.whole + len(self.places) - self._halved

    @property
    def _halved(self) -> int:
        """How many whole steps `places` stand for."""
        return round(self.places[-1] + self.parts[-1]) if self.places else 0

    @property
    def dt(self) -> float:
        """The step Δt, the longest where they differ."""
        return self.end / self.whole

    def step(self, n: int) -> float:
        """The length of the step from t_n."""
        return self.dt * self.parts[n] if n < len(self.parts) else self.dt

    def time(self, n: int) -> float:
        """t_n; `end` itself for the last."""
        if n < len(self.places):
            return self.end * self.places[n] / self.whole
        n += self._halved - len(self.places)
        return self.end if n == self.whole else self.end * n / self.whole


def clock(end: float, dt: float, multiple: int = 1, onset: Onset | None = None) -> Clock:
    """Steps of at most Δt that land on the end, their number a multiple of `multiple`.

    With an `onset` the first of them are halved until they are as short as it asks for.
    """
    for name, value in (("t_end", end), ("dt", dt)):
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    if end / dt > MOST_STEPS:
        raise UsageError(f"dt is {dt:g}, which makes {end / dt:.0e} steps; take a larger dt.")
    steps = math.ceil(end / dt * (1 - 1e-12))
    whole = multiple * math.ceil(steps / multiple)
    if onset is None:
        return Clock(float(end), whole)
    found: list[tuple[float, float]] = []
    n = 0
    while n < whole and not onset.allows(n * end / whole, 1.0):
        found += _halves(float(n), 1.0, end / whole, onset)
        n += 1
    places, parts = zip(*found, strict=True) if found else ((), ())
    return Clock(float(end), whole, places, parts)


def _halves(place: float, part: float, dt: float, onset: Onset) -> list[tuple[float, float]]:
    """A step as (place, part) pairs, halved as often as the onset asks for."""
    if onset.allows(place * dt, part):
        return [(place, part)]
    half = part / 2
    return [*_halves(place, half, dt, onset), *_halves(place + half, half, dt, onset)]
