"""The comparison as CSV, as Markdown and as a plot of work against precision."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tengbc.evidence.comparison.trial import SolverTrials, Trial
from tengbc.evidence.tables import markdown, text_csv
from tengbc.plotting import finish_axis, new_figure, save_figure

COLUMNS: dict[str, Callable[[SolverTrials, Trial], object]] = {
    "solver": lambda entry, trial: entry.solver,
    "error": lambda entry, trial: f"{trial.errors.worst:.4e}",
    "seconds": lambda entry, trial: f"{trial.seconds:.3f}",
    "unknowns": lambda entry, trial: trial.unknowns,
    "setting": lambda entry, trial: trial.setting,
    "user_seconds": lambda entry, trial: f"{trial.user_seconds:.3f}",
    "march_seconds": lambda entry, trial: "" if trial.march is None else f"{trial.march:.3f}",
    "compile_seconds": lambda entry, trial: f"{trial.compile_seconds:.3f}",
    "error_full": lambda entry, trial: f"{trial.errors.full:.4e}",
    "error_final": lambda entry, trial: (
        "" if trial.errors.final is None else f"{trial.errors.final:.4e}"
    ),
    "t_reached": lambda entry, trial: f"{trial.reached:.6g}",
    "complete": lambda entry, trial: int(trial.complete),
    "best": lambda entry, trial: int(trial is entry.best),
    "note": lambda entry, trial: trial.note,
}
"""The cells of a trial's line in comparison.csv."""
TITLES = ["solver", "worst error", "user's seconds", "march", "unknowns", "setting", "remark"]
MARKERS = {"fast": "o", "paper": "*", "fem": "s", "hp-fem": "P", "pinn-bfgs": "^", "pinn-engd": "v"}


def comparison_csv(entries: Sequence[SolverTrials]) -> str:
    """Every trial, one line each; `error` is the worst over time. A reason stands in the note."""
    lines: list[list[object]] = [list(COLUMNS)]
    for entry in entries:
        if entry.reason and not entry.trials:
            lines.append([entry.solver, *[""] * (len(COLUMNS) - 2), entry.reason])
        lines += [[cell(entry, trial) for cell in COLUMNS.values()] for trial in entry.trials]
    return text_csv(lines)


def rows(entries: Sequence[SolverTrials]) -> list[list[str]]:
    """The best of each solver: its error, all seconds, those of the march, and what was run."""
    lines = []
    for entry in entries:
        cells, note, best = ["–"] * 5, entry.reason, entry.best
        if best is not None:
            march = "–" if best.march is None else f"{best.march:.2f}"
            seconds = (f"{best.user_seconds:.2f}", march)
            cells = [f"{best.errors.worst:.1e}", *seconds, f"{best.unknowns:,}", best.setting]
            note = best.note or entry.reason
        lines.append([entry.solver, *cells, note])
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
        name = entry.solver if complete else None
        hollow = {"linestyle": "none", "markerfacecolor": "none"}
        rest = None if complete else f"{entry.solver} (part of the time)"
        for trials, label, style in ((complete, name, {}), (partial, rest, hollow)):
            seconds = [trial.seconds for trial in trials]
            errors = [trial.errors.worst for trial in trials]
            axis.loglog(seconds, errors, marker=marker, color=colour, label=label, **style)
    axis.set_ylabel("worst relative L² error")
    finish_axis(axis, title, "seconds, compilation apart")
    return save_figure(figure, directory / "comparison")
