"""Work against precision: the error of every trial over the seconds it took."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tengbc.evidence.comparison.compare import Entry
from tengbc.plotting import new_figure, save_figure

MARKERS = {"fast": "o", "paper": "*", "fem": "s", "pinn-bfgs": "^", "pinn-engd": "v"}


def plot(entries: Sequence[Entry], title: str, directory: Path) -> list[Path]:
    """comparison.png and comparison.svg; hollow points did not reach the final time."""
    figure, axis = new_figure(width=6.0, height=4.0)
    for index, entry in enumerate(entries):
        if not entry.trials:
            continue
        colour, marker = f"C{index}", MARKERS.get(entry.solver, "D")
        ordered = sorted(entry.trials, key=lambda trial: trial.seconds)
        complete = [trial for trial in ordered if trial.complete]
        partial = [trial for trial in ordered if not trial.complete]
        axis.loglog(
            [trial.seconds for trial in complete],
            [trial.errors.worst for trial in complete],
            marker=marker,
            color=colour,
            label=entry.solver if complete else None,
        )
        axis.loglog(
            [trial.seconds for trial in partial],
            [trial.errors.worst for trial in partial],
            linestyle="none",
            marker=marker,
            color=colour,
            markerfacecolor="none",
            label=None if complete else f"{entry.solver} (part of the time)",
        )
    axis.set_xlabel("seconds, compilation apart")
    axis.set_ylabel("worst relative L² error")
    axis.set_title(title)
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    return save_figure(figure, directory / "comparison")
