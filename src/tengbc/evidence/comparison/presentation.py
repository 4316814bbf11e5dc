"""The comparison as CSV, as Markdown and as a plot of work against precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tengbc.evidence.comparison.trial import SolverTrials
from tengbc.evidence.tables import markdown, text_csv
from tengbc.plotting import new_figure, save_figure

HEADER = (
    "solver",
    "error",
    "seconds",
    "unknowns",
    "setting",
    "compile_seconds",
    "error_full",
    "error_final",
    "t_reached",
    "complete",
    "best",
    "note",
)
TITLES = ["solver", "worst error", "seconds + compiling", "unknowns", "setting", "remark"]
MARKERS = {"fast": "o", "paper": "*", "fem": "s", "pinn-bfgs": "^", "pinn-engd": "v"}


def comparison_csv(entries: Sequence[SolverTrials]) -> str:
    """Every trial, one line each; `error` is the worst over time. A reason stands in the note."""
    lines: list[Sequence[object]] = [HEADER]
    for entry in entries:
        if entry.reason and not entry.trials:
            lines.append([entry.solver, *[""] * 10, entry.reason])
        for trial in entry.trials:
            lines.append(
                [
                    entry.solver,
                    f"{trial.errors.worst:.4e}",
                    f"{trial.seconds:.3f}",
                    trial.unknowns,
                    trial.setting,
                    f"{trial.compile_seconds:.3f}",
                    f"{trial.errors.full:.4e}",
                    f"{trial.errors.final:.4e}",
                    f"{trial.reached:.6g}",
                    int(trial.complete),
                    int(trial is entry.best),
                    trial.note,
                ]
            )
    return text_csv(lines)


def rows(entries: Sequence[SolverTrials]) -> list[list[str]]:
    """The best of each solver: solver, error, seconds, unknowns, setting, remark."""
    lines = []
    for entry in entries:
        best = entry.best
        if best is None:
            lines.append([entry.solver, "–", "–", "–", "–", entry.reason])
            continue
        lines.append(
            [
                entry.solver,
                f"{best.errors.worst:.1e}",
                f"{best.seconds:.1f} + {best.compile_seconds:.1f}",
                f"{best.unknowns:,}",
                best.setting,
                best.note or entry.reason,
            ]
        )
    return lines


def comparison_markdown(entries: Sequence[SolverTrials]) -> str:
    """The best of each solver as a Markdown table."""
    return markdown([TITLES, *rows(entries)])


def plot(entries: Sequence[SolverTrials], title: str, directory: Path) -> list[Path]:
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
