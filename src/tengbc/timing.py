"""Seconds of the wall clock, those that XLA spent compiling told apart, and when they are over."""

import math
import time

import jax

_PREFIX = "/jax/core/compile/"


class CompileClock:
    """Seconds and programs compiled so far in this process."""

    def __init__(self):
        self.seconds = 0.0
        self.programs = 0
        jax.monitoring.register_event_duration_secs_listener(self._heard)

    def _heard(self, event: str, duration_secs: float, **_: object) -> None:
        if event.startswith(_PREFIX):
            self.seconds += duration_secs
            self.programs += event.endswith("backend_compile_duration")


compile_clock = CompileClock()
"""The one clock of the process; take differences of its readings."""


class Stopwatch:
    """Seconds since it was made or since its last lap, compiling told apart."""

    def __init__(self):
        self._began, self._compiled = time.perf_counter(), compile_clock.seconds

    @property
    def compiling(self) -> float:
        """Seconds of compilation since the last lap."""
        return compile_clock.seconds - self._compiled

    @property
    def computing(self) -> float:
        """Seconds since the last lap without those of compilation."""
        return max(time.perf_counter() - self._began - self.compiling, 0.0)

    def lap(self) -> tuple[float, float]:
        """(computing, compiling) since the last lap, which ends here."""
        passed = self.computing, self.compiling
        self._began, self._compiled = time.perf_counter(), compile_clock.seconds
        return passed


class Deadline:
    """When the seconds of a run are over, counted from its making; never, where none are given."""

    def __init__(self, seconds: float | None = None):
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; infinity without a limit."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def over(self) -> bool:
        """Whether none are left."""
        return self.left <= 0


NO_DEADLINE = Deadline()
