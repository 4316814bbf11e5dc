"""What a solver is given, one of its runs, and all its runs as lines of the comparison."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tengbc.errors import TengbcError
from tengbc.problem import Problem
from tengbc.solution.measure import Errors, Truth
from tengbc.timing import Stopwatch
from tengbc.types import Progress


class OutOfTime(TengbcError):
    """A run that would take longer than its seconds."""

    exit_code = 6


@dataclass(frozen=True)
class Trial:
    """A run: its setting in words, wall-clock seconds, those of compilation apart, and its errors.

    `march` is the part of the seconds that went into time steps, where that is known; `reached` is
    the time up to which it got, which `complete` says is the end.
    """

    setting: str
    seconds: float
    compile_seconds: float
    unknowns: int
    errors: Errors
    reached: float
    complete: bool = True
    note: str = ""
    march: float | None = None

    @property
    def user_seconds(self) -> float:
        """All that passed between the call and the answer."""
        return self.seconds + self.compile_seconds


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


class Watch:
    """The seconds that a solver may take in all its runs, compilation apart, and those it took."""

    def __init__(self, seconds: float):
        self.allowed, self.stopwatch = seconds, Stopwatch()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(self.allowed - self.stopwatch.computing, 0.0)

    @property
    def share(self) -> float:
        """The part of the seconds that has passed, one at most."""
        return min(self.stopwatch.computing / self.allowed, 1.0)

    def check(self, *_: object) -> None:
        """Raise OutOfTime if the seconds are over; fits where a solver reports progress."""
        if self.stopwatch.computing > self.allowed:
            raise OutOfTime(f"The run takes longer than {self.allowed:g} s; allow more seconds.")


@dataclass(frozen=True)
class Contest:
    """What every solver is given: a problem and its final time, seconds, the truth.

    `watch` has the seconds of the solver at hand: all its runs share them.
    """

    problem: Problem
    end: float
    seconds: float
    truth: Truth
    progress: Progress
    watch: Watch

    def errors(self, u: Callable[..., Any], end: float | None = None) -> Errors:
        """Errors of u(points, times) up to `end`, by default the final time."""
        errors = self.truth.errors(u, self.end if end is None else end)
        assert errors is not None  # there is no contest without a truth
        return errors

    def timed(self, label: str, solve: Callable[..., Any]) -> tuple[Any, float, float] | None:
        """solve(progress=…), its seconds and those of compilation; None if it takes too long."""
        stopwatch = Stopwatch()

        def watched(phase: str, fraction: float, known: dict) -> None:
            self.watch.check()
            self.progress(label, self.watch.share, {})

        try:
            return solve(progress=watched), *stopwatch.lap()
        except OutOfTime:
            return None
