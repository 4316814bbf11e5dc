"""Where the time of a solve goes, and whether it fits a budget."""

import time

from tengbc.errors import TengbcError

TRIAL_STEPS = 4
"""Steps after which the time of the whole march is foreseen."""


class BudgetError(TengbcError):
    """A solve that does not fit into its seconds; `phase` tells where that was found."""

    exit_code = 6
    phase: str = ""


class Clock:
    """Seconds by phase, compilation apart; raises BudgetError when `budget` will not do."""

    def __init__(self, budget: int | float | None):
        from tengbc.solver.compile_clock import compile_clock

        self._compile_clock, self._budget = compile_clock, budget
        self.seconds = {"compile": 0.0}
        self._lap_began = time.perf_counter()
        self._compiled = compile_clock.seconds

    def lap(self, phase: str) -> None:
        """End a phase."""
        passed, compiled = self._since()
        self.seconds[phase] = max(0.0, passed - compiled)
        self.seconds["compile"] += compiled
        self._lap_began, self._compiled = time.perf_counter(), self._compile_clock.seconds
        self._refuse(sum(self.seconds.values()) - self.seconds["compile"], phase)

    def check(self, done: int, steps: int) -> None:
        """Raise if the march, having `done` so many of its `steps`, will not fit."""
        if self._budget is None or done < min(TRIAL_STEPS, steps):
            return
        passed, compiled = self._since()
        before = sum(self.seconds.values()) - self.seconds["compile"]
        march = passed - compiled
        # Early on the forecast is rough: give it some room.
        room = 1.0 if done > steps / 2 else 1.25
        self._refuse(before + march, "march")
        self._refuse((before + march / done * steps) / room, "march")

    def _since(self) -> tuple[float, float]:
        return (
            time.perf_counter() - self._lap_began,
            self._compile_clock.seconds - self._compiled,
        )

    def _refuse(self, needed: float, phase: str) -> None:
        if self._budget is not None and needed > self._budget:
            error = BudgetError(
                f"The finite-element solve needs {needed:.2g} s or more, but its budget is "
                f"{self._budget:.2g} s; take a coarser resolution, a larger dt or a larger budget."
            )
            error.phase = phase
            raise error
