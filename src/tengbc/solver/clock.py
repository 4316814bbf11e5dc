"""The grid of times: t_n = n·Δt, never accumulated, the last one exactly T; finer at an onset."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tengbc.errors import UsageError

MOST_STEPS = 1e8
"""More than anyone has the patience for: a slip in dt or t_end."""
DIVISION = 4
"""Into so many a step is divided that is too long: steps are cheap, a new length is not."""
SHORTEST = 2.0**-20
"""First steps are no shorter than this part of the others."""


@dataclass(frozen=True)
class Onset:
    """A fast beginning: the part of Δt that a step may be, at first and later.

    It is linear between `times`, constant before and after them, and must not fall.
    """

    times: tuple[float, ...]
    parts: tuple[float, ...]

    @staticmethod
    def growing(pace: float, calm: float) -> Onset | None:
        """(t + pace)/calm: u changes in a time `pace` at first, and Δt is made for `calm`."""
        return Onset((0.0, calm - pace), (pace / calm, 1.0)) if pace < calm else None

    def part(self, t: float) -> float:
        """The largest part of Δt for a step from t."""
        return max(float(np.interp(t, self.times, self.parts)), SHORTEST)


@dataclass(frozen=True)
class Clock:
    """Steps from 0 to `end`: `whole` equal ones, of which the first may be divided repeatedly.

    `places` are the beginnings of the steps, and `parts` their lengths, in units of Δt; both are
    empty where no step is divided.
    """

    end: float
    whole: int
    places: tuple[float, ...] = ()
    parts: tuple[float, ...] = ()

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return self.whole + len(self.places) - self._replaced

    @property
    def _replaced(self) -> int:
        """How many whole steps `places` stand for."""
        return round(self.places[-1] + self.parts[-1]) if self.places else 0

    @property
    def dt(self) -> float:
        """The step Δt, the longest where they differ."""
        return self.end / self.whole

    def step(self, n: int) -> float:
        """The length of the step from t_n."""
        return self.dt * self.parts[n] if n < len(self.parts) else self.dt

    def halved(self) -> Clock:
        """Twice as many steps, each half as long as it was."""
        pieces = [
            (2 * place + half * part, part)
            for place, part in zip(self.places, self.parts, strict=True)
            for half in (0, 1)
        ]
        places, parts = zip(*pieces, strict=True) if pieces else ((), ())
        return Clock(self.end, 2 * self.whole, places, parts)

    def repeated(self, often: int) -> frozenset[float]:
        """The lengths that more than so many steps have."""
        counts = Counter(self.dt * part for part in self.parts)
        counts[self.dt] += self.whole - self._replaced
        return frozenset(length for length, count in counts.items() if count > often)

    def time(self, n: int) -> float:
        """t_n; `end` itself for the last."""
        if n < len(self.places):
            return self.end * self.places[n] / self.whole
        n += self._replaced - len(self.places)
        return self.end if n == self.whole else self.end * n / self.whole


def clock(end: float, dt: float, multiple: int = 1, onset: Onset | None = None) -> Clock:
    """Steps of at most Δt that land on the end, their number a multiple of `multiple`.

    With an `onset` the first of them are divided until they are as short as it asks for.
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
    while n < whole and onset.part(n * end / whole) < 1:
        found += _divided(float(n), 1.0, end / whole, onset)
        n += 1
    places, parts = zip(*found, strict=True) if found else ((), ())
    return Clock(float(end), whole, places, parts)


def _divided(place: float, part: float, dt: float, onset: Onset) -> list[tuple[float, float]]:
    """A step as (place, part) pairs, divided as often as the onset asks for."""
    if part <= onset.part(place * dt):
        return [(place, part)]
    shorter = part / DIVISION
    return [
        piece
        for n in range(DIVISION)
        for piece in _divided(place + n * shorter, shorter, dt, onset)
    ]
