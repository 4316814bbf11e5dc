"""The comparison as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from tengbc.evidence.comparison.compare import Entry

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


def comparison_csv(entries: Sequence[Entry]) -> str:
    """Every trial, one line each; `error` is the worst over time. A reason stands in the note."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for entry in entries:
        if entry.reason and not entry.trials:
            writer.writerow([entry.solver, *[""] * 10, entry.reason])
        for trial in entry.trials:
            writer.writerow(
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
    return text.getvalue()


def rows(entries: Sequence[Entry]) -> list[list[str]]:
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


TITLES = ["solver", "worst error", "seconds + compiling", "unknowns", "setting", "remark"]


def comparison_markdown(entries: Sequence[Entry]) -> str:
    """The best of each solver as a Markdown table."""
    lines = [TITLES, ["---"] * len(TITLES), *rows(entries)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
