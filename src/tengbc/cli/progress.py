"""A progress bar with the phase, what is known, and the time left."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class Bar:
    """Shows solve()'s reports on a terminal; off a terminal, a line every half minute."""

    def __init__(self, quiet: bool = False):
        self.console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[known]}"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
            refresh_per_second=5,
        )
        self._phase, self._task = "", None
        self._last_line, self._last_draw = time.monotonic(), 0.0

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def __call__(self, phase: str, fraction: float, known: dict) -> None:
        """What `solve(report=…)` calls."""
        now = time.monotonic()
        if phase == self._phase and fraction < 1 and now - self._last_draw < 0.1:
            return
        self._last_draw = now
        text = "  ".join(f"{name} {_short(value)}" for name, value in known.items())
        if self.console.is_terminal:
            if phase != self._phase:
                if self._task is not None:
                    self._progress.remove_task(self._task)
                self._task = self._progress.add_task(phase, total=1.0, known="")
            assert self._task is not None
            self._progress.update(self._task, completed=fraction, known=text)
        elif now - self._last_line > 30:
            self._last_line = now
            self.console.print(f"{phase} {fraction:.0%}  {text}", highlight=False)
        self._phase = phase


def _short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
