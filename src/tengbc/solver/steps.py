"""Step lengths: a grid of times laid out beforehand, or as long as an explicit scheme is stable.

On a grid t_n = n·Δt, never accumulated, the last one exactly T; the first steps may be shorter.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError

MOST_STEPS = 1e8
"""More than anyone has the patience for: a slip in dt or t_end."""
DIVISION = 4
"""A step that is too long is divided into this many: steps are cheap, a new length is not."""
SHORTEST = 2.0**-20
"""First steps are no shorter than this part of the others."""
MANY_STEPS = 50
"""If more steps than this have one length, it pays to prepare a matrix for that length."""
MARGIN = 0.9
"""A step is chosen for this part of the length that its error would allow."""
WHOLE = 2**40
"""The whole time in units of the shortest step of adapted length."""
LEG = 10
"""Steps of one length between two looks at the longest stable one."""


@dataclass(frozen=True)
class Leg:
    """Some steps of one length, after which a march looks about.

    `end` is the time after them; `stored` says that the state there is kept, `many` that more
    than MANY_STEPS of this length will follow.
    """

    dt: float
    count: int
    end: float
    stored: bool
    many: bool = False


@dataclass(frozen=True)
class Pace:
    """The length of the step before, and its error as a part of the solution."""

    dt: float
    error: float


@runtime_checkable
class StepController(Protocol):
    """Decides how long steps are."""

    @property
    def end(self) -> float:
        """The final time."""
        ...

    @property
    def expected(self) -> int:
        """How many legs there will be, as far as is known."""
        ...

    @property
    def halvings(self) -> int:
        """How often in a row a step that fails may be halved before the march is given up."""
        ...

    def leg(
        self, done: int, stored: int, t: float, longest: Callable[[], float], pace: Pace | None
    ) -> Leg | None:
        """The next leg after `done` legs and `stored` stored states at time t; None at the end.

        `longest` tells the longest stable step of the space as it is; `pace` is that of the last
        step, taken or refused.
        """
        ...

    def refuses(self, t: float, pace: Pace) -> bool:
        """Whether a step from t has too large an error and is to be taken again, shorter."""
        ...


@dataclass(frozen=True)
class StepGrading:
    """The largest part of Δt that a step from t may have, for solutions that are fast at first.

    It is linear between `times`, constant before and after them, and must not fall.
    """

    times: tuple[float, ...]
    parts: tuple[float, ...]

    @staticmethod
    def growing(pace: float, calm: float) -> StepGrading | None:
        """(t + pace)/calm, where u changes in a time `pace` at first and Δt suits a time `calm`."""
        return StepGrading((0.0, calm - pace), (pace / calm, 1.0)) if pace < calm else None

    def part(self, t: float) -> float:
        """The largest part of Δt for a step from t."""
        return max(float(np.interp(t, self.times, self.parts)), SHORTEST)


@dataclass(frozen=True)
class TimeGrid:
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

    def halved(self) -> TimeGrid:
        """Twice as many steps, each half as long as it was."""
        pieces = [
            (2 * place + half * part, part)
            for place, part in zip(self.places, self.parts, strict=True)
            for half in (0, 1)
        ]
        places, parts = zip(*pieces, strict=True) if pieces else ((), ())
        return TimeGrid(self.end, 2 * self.whole, places, parts)

    def repeated(self, often: int) -> frozenset[float]:
        """The lengths that more than `often` steps have."""
        counts = Counter(self.dt * part for part in self.parts)
        counts[self.dt] += self.whole - self._replaced
        return frozenset(length for length, count in counts.items() if count > often)

    def time(self, n: int) -> float:
        """t_n; `end` itself for the last."""
        if n < len(self.places):
            return self.end * self.places[n] / self.whole
        n += self._replaced - len(self.places)
        return self.end if n == self.whole else self.end * n / self.whole


def time_grid(
    end: float, dt: float, multiple: int = 1, grading: StepGrading | None = None
) -> TimeGrid:
    """Steps of at most Δt that land on the end, their number a multiple of `multiple`.

    With a `grading` the first of them are divided until they are as short as it asks for.
    """
    for name, value in (("t_end", end), ("dt", dt)):
        if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    if end / dt > MOST_STEPS:
        raise UsageError(f"dt is {dt:g}, which makes {end / dt:.0e} steps; take a larger dt.")
    steps = math.ceil(end / dt * (1 - 1e-12))
    whole = multiple * math.ceil(steps / multiple)
    if grading is None:
        return TimeGrid(float(end), whole)
    found: list[tuple[float, float]] = []
    n = 0
    while n < whole and grading.part(n * end / whole) < 1:
        found += _divided(float(n), 1.0, end / whole, grading)
        n += 1
    places, parts = zip(*found, strict=True) if found else ((), ())
    return TimeGrid(float(end), whole, places, parts)


def _divided(
    place: float, part: float, dt: float, grading: StepGrading
) -> list[tuple[float, float]]:
    """A step as (place, part) pairs, divided as often as the grading asks for."""
    if part <= grading.part(place * dt):
        return [(place, part)]
    shorter = part / DIVISION
    return [
        piece
        for n in range(DIVISION)
        for piece in _divided(place + n * shorter, shorter, dt, grading)
    ]


@dataclass(frozen=True)
class GridSteps:
    """Steps from point to point of a grid; every `keep_every`-th state is kept, and the last."""

    grid: TimeGrid
    keep_every: int = 1
    halvings: int = 0

    @property
    def end(self) -> float:
        return self.grid.end

    @property
    def expected(self) -> int:
        return self.grid.steps

    @cached_property
    def repeated(self) -> frozenset[float]:
        """The step lengths for which it pays to prepare more."""
        return self.grid.repeated(MANY_STEPS)

    def refuses(self, t: float, pace: Pace) -> bool:
        return False

    def leg(self, done, stored, t, longest, pace) -> Leg | None:
        if done >= self.grid.steps:
            return None
        dt = self.grid.step(done)
        kept = (done + 1) % self.keep_every == 0 or done + 1 == self.grid.steps
        return Leg(dt, 1, self.grid.time(done + 1), kept, dt in self.repeated)


@dataclass(frozen=True)
class StableSteps:
    """Steps as long as stable, at most `largest`; they land on given times, which are kept."""

    times: Float[np.ndarray, " k"]
    largest: float
    halvings: int = 0

    @property
    def end(self) -> float:
        return float(self.times[-1])

    @property
    def expected(self) -> int:
        return len(self.times)

    def refuses(self, t: float, pace: Pace) -> bool:
        return False

    def leg(self, done, stored, t, longest, pace) -> Leg | None:
        if stored >= len(self.times):
            return None
        goal = float(self.times[stored])
        count = max(1, math.ceil((goal - t) / min(self.largest, longest()) * (1 - 1e-12)))
        dt, now = (goal - t) / count, min(count, LEG)
        return Leg(dt, now, goal if now == count else t + now * dt, now == count)


@dataclass(frozen=True)
class AdaptedSteps:
    """Steps as long as their errors allow, each a part 2⁻ᵏ of the whole time.

    So few lengths occur, each of which a scheme prepares once, and the last step ends at the end.
    Until the time `settled` errors are not looked at: an initial layer dies out by itself.
    """

    end: float
    first: float
    tolerance: float
    exponent: int
    """Errors go with this power of the step."""
    growth: int = 2
    """Steps grow by this power of two at once, or not at all."""
    settled: float = 0.0
    halvings: int = 0

    @property
    def expected(self) -> int:
        return max(1, round(self.end / self.first))

    def refuses(self, t: float, pace: Pace) -> bool:
        within = t >= self.settled * (1 - 1e-12) and pace.dt > self.end / WHOLE
        return within and not pace.error <= self.tolerance

    def leg(self, done, stored, t, longest, pace) -> Leg | None:
        place = round(t / self.end * WHOLE)  # in units of the shortest step
        if place >= WHOLE:
            return None
        unit = self._unit(self.first if pace is None else self._wanted(t, pace))
        while place % unit:
            unit //= self.growth
        end = self.end if place + unit == WHOLE else self.end * ((place + unit) / WHOLE)
        return Leg(self.end * (unit / WHOLE), 1, end, True)

    def _wanted(self, t: float, pace: Pace) -> float:
        """The length whose error would be the tolerance, with some margin."""
        if t < self.settled * (1 - 1e-12):
            return self.first
        error = pace.error if math.isfinite(pace.error) else 1e6 * self.tolerance
        allowed = MARGIN * (self.tolerance / max(error, 1e-300)) ** (1 / self.exponent)
        if error > self.tolerance:  # refused: shorter in any case
            return pace.dt * min(allowed, 0.999)
        return pace.dt * (self.growth if allowed >= self.growth else 1)

    def _unit(self, dt: float) -> int:
        """The longest step of a permitted length that is no longer than Δt."""
        power = math.floor(math.log2(WHOLE * (dt / self.end)) + 1e-9)
        return 2 ** min(max(power, 0), WHOLE.bit_length() - 1)


@dataclass(frozen=True)
class RepeatedSteps:
    """Steps that another march has taken, by their ends in parts 2⁻⁴⁰ of the whole time."""

    end: float
    ends: tuple[int, ...]
    halvings: int = 2

    @staticmethod
    def of(end: float, times: Float[np.ndarray, " k"]) -> RepeatedSteps:
        """Those of a march of adapted steps that came to these times."""
        return RepeatedSteps(end, tuple(np.rint(times / end * WHOLE).astype(int).tolist()))

    def doubled(self) -> RepeatedSteps:
        """Steps twice as long, wherever two that follow each other are the halves of one."""
        ends, place, k = [], 0, 0
        while k < len(self.ends):
            unit = 2 * (self.ends[k] - place)
            halves = place % unit == 0 and self.ends[k + 1 : k + 2] == (place + unit,)
            k += 2 if halves else 1
            place = self.ends[k - 1]
            ends.append(place)
        return RepeatedSteps(self.end, tuple(ends), self.halvings)

    def lengths(self, times: Float[np.ndarray, " k"]) -> Int[np.ndarray, " k"]:
        """How long the step is that comes to or over each time, in the same parts."""
        ends = np.array(self.ends)
        places = np.rint(times / self.end * WHOLE).astype(int)
        which = np.minimum(np.searchsorted(ends, places), len(ends) - 1)
        return np.diff(ends, prepend=0)[which]

    @property
    def expected(self) -> int:
        return len(self.ends)

    def refuses(self, t: float, pace: Pace) -> bool:
        return False

    def leg(self, done, stored, t, longest, pace) -> Leg | None:
        if done >= len(self.ends):
            return None
        first, last = (0, *self.ends)[done], self.ends[done]
        end = self.end if last == WHOLE else self.end * (last / WHOLE)
        return Leg(self.end * ((last - first) / WHOLE), 1, end, True)
