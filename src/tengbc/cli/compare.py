"""tengbc compare: solvers side by side on one problem."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengbc.cli.arguments import ProblemName, check_problem, load_problem
from tengbc.errors import UsageError
from tengbc.evidence.comparison.registry import CONTENDERS, chosen_solvers

ALL = ",".join(CONTENDERS)
if TYPE_CHECKING:
    from tengbc.evidence.comparison.compare import SolverTrials


def compare(
    problem: ProblemName,
    solvers: Annotated[str, typer.Option(help="Names with commas between them.")] = ALL,
    seconds: Annotated[
        float, typer.Option(help="Wall clock for each solver, compilation apart.")
    ] = 60.0,
    t_end: Annotated[float | None, typer.Option(help="Final time.")] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for table and plot.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no table.")] = False,
) -> None:
    """Give every solver the same SECONDS on PROBLEM and compare errors at the same points.

    A solver is run several times, from coarse to fine, until its seconds are over; compilation is
    stated apart.
    """
    names = chosen_solvers(solvers)
    if not 0 < seconds < 1e7:
        raise UsageError(f"seconds is {seconds:g}, but it must be positive and finite; change it.")
    check_problem(problem)
    from tengbc.cli.terminal import print_table, say
    from tengbc.evidence.comparison.compare import compare as run_all
    from tengbc.evidence.comparison.presentation import TITLES, rows
    from tengbc.plotting import matplotlib_figure
    from tengbc.progress import Bar
    from tengbc.report.numbers import duration
    from tengbc.runs.directory import make_directory
    from tengbc.runs.signals import SignalWatch

    loaded = load_problem(problem)
    if out is not None:
        matplotlib_figure()
        make_directory(out)
    if not quiet:
        say(
            f"{len(names)} solvers with {seconds:g} s each: about {duration(len(names) * seconds)} "
            f"in all, or less, and what compiling, pilot runs and measuring errors take."
        )
    began = time.perf_counter()
    entries: list[SolverTrials] = []
    watch = SignalWatch(raising=True)
    with contextlib.suppress(KeyboardInterrupt), watch, Bar(quiet) as bar:

        def told(phase: str, fraction: float, known: dict) -> None:
            bar(phase, fraction, known)
            if watch.stopping:  # what the signal raised may have got lost in a callback
                raise KeyboardInterrupt

        run_all(loaded, names, seconds, t_end, told, entries)
    if watch.stopping and entries:
        entries[-1].reason = "interrupted."
    title = f"{loaded.name or problem}: {seconds:g} s for each solver"
    if out is not None:
        command = f"tengbc compare {problem} --solvers {','.join(names)} --seconds {seconds:g}"
        _write(entries, title, out, command, time.perf_counter() - began)
    if not quiet:
        print_table(title, rows(entries), *TITLES)
        if out is not None:
            print(f"written to {out}")
    if watch.received is not None:
        kept = "" if out is None else f"; what was done is in {out}"
        say(f"interrupted by a signal{kept}.")
        sys.exit(128 + watch.received)


def _write(
    entries: Sequence[SolverTrials], title: str, out: Path, command: str, seconds: float
) -> None:
    """comparison.csv, comparison.md, provenance.json and the plot."""
    from tengbc.evidence.comparison.presentation import comparison_csv, comparison_markdown, plot
    from tengbc.provenance import provenance
    from tengbc.runs.directory import write_text

    write_text(out / "comparison.csv", comparison_csv(entries))
    write_text(out / "comparison.md", comparison_markdown(entries))
    write_text(out / "provenance.json", json.dumps(provenance(command, seconds), indent=1) + "\n")
    if any(entry.trials for entry in entries):
        plot(entries, title, out)
