"""How long XLA spent compiling, told apart from computing."""

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
    """Seconds since the last call, compiling told apart."""

    def __init__(self):
        self._began, self._compiled = time.perf_counter(), compile_clock.seconds

    def lap(self) -> tuple[float, float]:
        """(computing, compiling) since the last lap."""
        now, compiled = time.perf_counter(), compile_clock.seconds
        compiling = compiled - self._compiled
        computing = now - self._began - compiling
        self._began, self._compiled = now, compiled
        return max(computing, 0.0), compiling
