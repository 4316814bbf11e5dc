"""Progress for people: a bar at a terminal, a line that changes in a notebook, else some lines.

The first second shows nothing, so short solves neither flicker nor import what draws.
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tengbc.types import Progress

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds before anything is shown."""
REDRAW = 0.1
"""Seconds between two drawings."""
BAR = 24
"""Columns of a bar."""
LINE_EVERY = 30.0
"""Seconds between two lines, where lines cannot be drawn over."""


def shown(progress: Progress | bool | None) -> AbstractContextManager[Progress]:
    """Who hears of progress: a function, or a bar, which None shows only where somebody looks."""
    if callable(progress):
        return nullcontext(progress)
    return Bar(quiet=not (watched() if progress is None else progress))


def watched() -> bool:
    """Whether somebody looks: standard error is a terminal, or this is a notebook."""
    return (sys.stderr is not None and sys.stderr.isatty()) or in_notebook()


def in_notebook() -> bool:
    """Whether the process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class Bar:
    """Shows what `solve(progress=…)` tells, from the second second on, and clears up at the end."""

    def __init__(self, quiet: bool = False):
        self._quiet = quiet
        self._began = self._drawn = self._phase_began = time.monotonic()
        self._phase = ""
        self._screen: Screen | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def __call__(self, phase: str, fraction: float, known: dict[str, Any]) -> None:
        """What `solve(progress=…)` calls."""
        now = time.monotonic()
        new = phase != self._phase
        if new:
            self._phase, self._phase_began = phase, now
        if self._quiet or now - self._began < PATIENCE:
            return
        if not new and fraction < 1 and now - self._drawn < REDRAW:
            return
        self._drawn = now
        if self._screen is None:
            self._screen = _screen()
        short = lambda value: f"{value:.3g}" if isinstance(value, float) else str(value)
        words = [f"{name} {short(value)}" for name, value in known.items()]
        left = time_left(now - self._phase_began, fraction)
        self._screen.draw(phase, fraction, "  ".join([left, *words] if left else words))


def time_left(passed: float, fraction: float) -> str:
    """What is left of a phase at the speed so far, such as 1:05 left; empty if nobody can tell."""
    if not 0 < fraction < 1 or passed <= 0:
        return ""
    seconds = round(passed * (1 - fraction) / fraction)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} left" if hours else f"{minutes}:{seconds:02d} left"


@runtime_checkable
class Screen(Protocol):
    """Something to draw on."""

    def draw(self, phase: str, fraction: float, text: str) -> None:
        """Show a phase, the fraction done and what is known."""
        ...

    def close(self) -> None:
        """Leave it as it was."""
        ...


def _screen() -> Screen:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        return _Terminal(console)
    return _Notebook() if in_notebook() else _Lines()


class _Terminal:
    """A bar at the bottom of the terminal."""

    def __init__(self, console: Console):
        from rich.progress import BarColumn, Progress, TextColumn

        self._console = console
        self._progress = Progress(
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=BAR),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[known]}"),
            console=console,
            transient=True,
            refresh_per_second=5,
        )
        self._task = self._progress.add_task("", total=1.0, known="")
        self._progress.start()

    def draw(self, phase: str, fraction: float, text: str) -> None:
        room = max(self._console.width - max(len(phase), 12) - BAR - 8, 0)  # 8: percent and gaps
        known = text[:room]  # else rich would take the room from the bar
        self._progress.update(self._task, description=phase, completed=fraction, known=known)

    def close(self) -> None:
        self._progress.stop()


class _Notebook:
    """A line of output that changes; plain text, so that it needs no widgets."""

    def __init__(self):
        self._handle = None

    def draw(self, phase: str, fraction: float, text: str) -> None:
        self._show(f"{phase} {fraction:.0%}  {text}")

    def close(self) -> None:
        self._show("")

    def _show(self, line: str) -> None:
        from IPython.display import display

        content = {"text/plain": line}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)


class _Lines:
    """A line every half minute."""

    def __init__(self):
        self._last = time.monotonic()

    def draw(self, phase: str, fraction: float, text: str) -> None:
        now = time.monotonic()
        if now - self._last > LINE_EVERY:
            self._last = now
            print(f"{phase} {fraction:.0%}  {text}", file=sys.stderr, flush=True)

    def close(self) -> None:
        pass
