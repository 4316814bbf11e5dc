"""What a sweep shows while it works: a live table at a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from typing import Any

from tengbc.progress import LINE_EVERY, PATIENCE, REDRAW, time_left
from tengbc.report.numbers import duration
from tengbc.sweeps.rows import UNFINISHED
from tengbc.sweeps.study import Study

LAST = 5
"""Runs that are listed after they ended."""


class Board:
    """Hears how the runs of a study go, of which `todo` are missing; the table goes at the end.

    The time left follows from the runs that have ended since it began.
    """

    def __init__(self, study: Study, todo: int, quiet: bool = False):
        self.study, self.todo, self.quiet = study, todo, quiet
        self.before = len(study.runs) - todo
        self.outcomes: dict[int, tuple[str, str]] = {}
        self._running: dict[int, tuple[float, str]] = {}
        self._began = time.monotonic()
        self._drawn = self._line = self._began
        self._live: Any = None

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def begins(self, number: int) -> None:
        """A worker has taken a run."""
        self._running[number] = (time.monotonic(), "begins")

    def moves(self, number: int, phase: str, fraction: float) -> None:
        """A run has come so far in a phase."""
        self._running[number] = (self._running[number][0], f"{phase} {fraction:.0%}")

    def elsewhere(self, number: int) -> None:
        """Another process works on it."""
        self._running.pop(number, None)

    def ends(self, number: int, outcome: str, message: str) -> None:
        """A run has ended."""
        self._running.pop(number, None)
        self.outcomes[number] = (outcome, message)

    @property
    def failed(self) -> int:
        """How many have ended otherwise than solved, since it began."""
        return sum(outcome not in ("done", UNFINISHED) for outcome, _ in self.outcomes.values())

    @property
    def headline(self) -> str:
        """How many are done, how many failed, and the time left."""
        ended = sum(outcome != UNFINISHED for outcome, _ in self.outcomes.values())
        words = [f"{self.before + ended} of {len(self.study.runs)} runs"]
        if self.failed:
            words.append(f"{self.failed} not solved")
        left = time_left(time.monotonic() - self._began, ended / max(self.todo, 1))
        return ", ".join([*words, *([left] if left else [])])

    def draw(self) -> None:
        """Show it, if it is time."""
        now = time.monotonic()
        if self.quiet or now - self._began < PATIENCE or now - self._drawn < REDRAW:
            return
        self._drawn = now
        if sys.stderr is not None and sys.stderr.isatty():
            self._show()
        elif now - self._line > LINE_EVERY:
            self._line = now
            print(self.headline, file=sys.stderr, flush=True)

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live

        if self._live is None:
            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self.table(), refresh=True)

    def table(self) -> Any:
        """The last runs that ended, and those in hand."""
        from rich.table import Table

        names, now = self.study.parameters, time.monotonic()
        table = Table("run", *names, "", "time", title=self.headline, title_justify="left")
        shown = list(self.outcomes)[-LAST:]
        for number in (*shown, *self._running):
            values = self.study.runs[number - 1].parameters
            if number in self._running:
                began, text = self._running[number]
                taken = duration(now - began)
            else:
                text, taken = self.outcomes[number][0], ""
            table.add_row(str(number), *(short(values[name]) for name in names), text, taken)
        return table


def short(value: Any) -> str:
    """A parameter's value as people read it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
