"""One run of one solver, as a line of the comparison, and all the runs of a solver."""

from __future__ import annotations

from dataclasses import dataclass, field

from tengbc.errors import TengbcError
from tengbc.solution.measure import Errors
from tengbc.timing import Stopwatch


class OutOfTime(TengbcError):
    """A run that would take longer than its seconds."""

    exit_code = 6


@dataclass(frozen=True)
class Trial:
    """A run: its setting in words, wall-clock seconds, those of compilation apart, and its errors.

    `reached` is the time up to which it got, which `complete` says is the end.
    """

    setting: str
    seconds: float
    compile_seconds: float
    unknowns: int
    errors: Errors
    reached: float
    complete: bool = True
    note: str = ""


@dataclass
class SolverTrials:
    """A solver's trials, or the reason why there are none."""

    solver: str
    trials: list[Trial] = field(default_factory=list)
    reason: str = ""

    @property
    def best(self) -> Trial | None:
        """The most accurate of the complete runs, else the one that got farthest."""
        complete = [trial for trial in self.trials if trial.complete]
        if complete:
            return min(complete, key=lambda trial: trial.errors.worst)
        return max(self.trials, key=lambda trial: trial.reached, default=None)


class TimeLimit:
    """The seconds that a run may take, and those that it took."""

    def __init__(self, seconds: float):
        self.allowed, self.stopwatch = seconds, Stopwatch()

    @property
    def share(self) -> float:
        """The part of the seconds that has passed, compilation apart, one at most."""
        return min(self.stopwatch.computing / self.allowed, 1.0)

    def check(self, *_: object) -> None:
        """Raise OutOfTime if the seconds are over; fits where a solver reports progress."""
        if self.stopwatch.computing > self.allowed:
            raise OutOfTime(f"The run takes longer than {self.allowed:g} s; allow more seconds.")
