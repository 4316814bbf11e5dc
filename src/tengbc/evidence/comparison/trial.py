"""One run of one solver, as a line of the comparison."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tengbc.errors import TengbcError
from tengbc.solver.compile_clock import compile_clock
from tengbc.solver.measure import Errors


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


class Watch:
    """Wall-clock seconds since it was made, those of compilation apart: they are spent once."""

    def __init__(self, seconds: float):
        self.allowed = seconds
        self._began, self._compiled = time.perf_counter(), compile_clock.seconds

    @property
    def passed(self) -> float:
        """Seconds so far, without compilation."""
        return time.perf_counter() - self._began - self.compiling

    @property
    def compiling(self) -> float:
        """Seconds of compilation so far."""
        return compile_clock.seconds - self._compiled

    def check(self, *_: object) -> None:
        """Raise OutOfTime if the seconds are over; fits where a solver reports progress."""
        if self.passed > self.allowed:
            raise OutOfTime(f"The run takes longer than {self.allowed:g} s; allow more seconds.")
