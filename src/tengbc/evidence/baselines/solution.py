"""What all baselines share: the times they are asked for, and the solution that comes out."""

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.errors import OutsideError, UsageError
from tengbc.geometry.points import outside_error
from tengbc.history import Record
from tengbc.outcome import Outcome, Result
from tengbc.pointwise import as_points
from tengbc.problem import Problem

Array = np.ndarray
Times = Float[Array, " k"] | Sequence[int | float]


def final_time(problem: Problem, t_end: int | float | None) -> float:
    """t_end, or the problem's own."""
    end = t_end if t_end is not None else problem.t_end
    if end is None:
        raise UsageError(
            "t_end is missing and the problem has none of its own; pass t_end=… or --t-end."
        )
    return positive("t_end", end)


def positive(name: str, value: int | float) -> float:
    """The value as a number, if it is positive and finite."""
    if not (math.isfinite(value) and value > 0):
        raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    return float(value)


def stored_times(times: Times | None, end: float) -> Float[Array, " k"]:
    """The times at which a solution is stored, by default 101 equispaced ones."""
    stored = np.array(np.linspace(0.0, end, 101) if times is None else times, dtype=float).ravel()
    ascending = len(stored) > 0 and bool(np.all(np.diff(stored) > 0))
    if not ascending or stored[0] < 0 or stored[-1] > end * (1 + 1e-12):
        raise UsageError(
            f"times must ascend from 0 or later to t_end = {end:g} at most; correct them."
        )
    return np.minimum(stored, end)


@dataclass(frozen=True, eq=False, kw_only=True)
class AbstractBaselineSolution(abc.ABC):
    """u(x, t) at the stored `times`.

    `seconds` tells where the time went, compilation apart; `facts` holds the choices made;
    `result` says how the run ended.
    """

    method: ClassVar[str]
    """Its name in messages."""
    problem: Problem
    times: Float[Array, " k"]
    seconds: dict[str, float]
    facts: dict[str, object]
    result: Result = field(default_factory=lambda: Result(Outcome.DONE))
    history: Sequence[Record] = ()
    error_estimate: Float[Array, " _"] = field(default_factory=lambda: np.zeros(0))

    @property
    def total_seconds(self) -> float:
        """All phases together, compilation apart."""
        return sum(value for phase, value in self.seconds.items() if phase != "compile")

    def __call__(self, x: ArrayLike, t: int | float) -> Float[Array, "..."] | np.floating:
        """u at points x, one (d,) or many (n, d), at time t."""
        points = as_points(x, self.problem.domain.dim)
        values = self.at_times(np.atleast_2d(points), [t])[0]
        return values if points.ndim == 2 else values[0]

    @abc.abstractmethod
    def at_times(
        self, x: Float[Array, "n d"], times: Sequence[float] | Array
    ) -> Float[Array, "k n ..."]:
        """u at points x (n, d) and several times."""

    def _index(self, t: int | float) -> int:
        """Which of the stored times t is; nothing is interpolated in time."""
        index = int(np.argmin(np.abs(self.times - t)))
        if not abs(self.times[index] - t) <= 1e-12 * max(1.0, self.times[-1]):
            raise OutsideError(
                f"The {self.method} solution holds no values at t = {t:g}, only at "
                f"{len(self.times)} times from {self.times[0]:g} to {self.times[-1]:g}; "
                f"pass times=… with the ones you need."
            )
        return index

    def _check_inside(self, x: Float[Array, "n d"]) -> None:
        inside = self.problem.domain.contains(x)
        if not inside.all():
            raise outside_error(x, inside)
