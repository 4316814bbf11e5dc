"""What `tengbc compare` does once its options are known to be good."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tengbc.cli.progress import Bar
from tengbc.cli.say import say
from tengbc.evidence.comparison.compare import compare
from tengbc.evidence.comparison.presentation import (
    TITLES,
    comparison_csv,
    comparison_markdown,
    plot,
    rows,
)
from tengbc.evidence.comparison.trial import SolverTrials
from tengbc.plotting import matplotlib_figure
from tengbc.problem import Problem
from tengbc.runs import output
from tengbc.runs.provenance import provenance
from tengbc.runs.signals import SignalWatch


def compare_and_write(
    problem: Problem,
    argument: str,
    solvers: Sequence[str],
    seconds: float,
    t_end: float | None,
    out: Path | None,
    quiet: bool,
) -> None:
    """Compare, print the table, write comparison.csv, .md, .json and the plot."""
    if out is not None:
        matplotlib_figure()
        output.prepare(out)
    began = time.perf_counter()
    entries: list[SolverTrials] = []
    watch = SignalWatch(raising=True)
    with contextlib.suppress(KeyboardInterrupt), watch, Bar(quiet) as bar:

        def report(phase: str, fraction: float, known: dict) -> None:
            bar(phase, fraction, known)
            if watch.stopping:  # what the signal raised may have got lost in a callback
                raise KeyboardInterrupt

        compare(problem, solvers, seconds, t_end, report, entries)
    if watch.stopping and entries:
        entries[-1].reason = "interrupted."
    title = f"{problem.name or argument}: at most {seconds:g} s for each run"
    if out is not None:
        command = f"tengbc compare {argument} --solvers {','.join(solvers)} --seconds {seconds:g}"
        origin = provenance(command, time.perf_counter() - began)
        output.write_text(out / "comparison.csv", comparison_csv(entries))
        output.write_text(out / "comparison.md", comparison_markdown(entries))
        output.write_text(out / "provenance.json", json.dumps(origin, indent=1) + "\n")
        if any(entry.trials for entry in entries):
            plot(entries, title, out)
    if not quiet:
        _print(entries, title, out)
    if watch.received is not None:
        kept = "" if out is None else f"; what was done is in {out}"
        say(f"interrupted by a signal{kept}.")
        sys.exit(128 + watch.received)


def _print(entries: Sequence[SolverTrials], title: str, out: Path | None) -> None:
    table = Table(*TITLES, title=title)
    for row in rows(entries):
        table.add_row(*row)
    Console(highlight=False).print(table)
    if out is not None:
        print(f"written to {out}")
