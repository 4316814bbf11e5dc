"""What `tengbc baseline` does once its options are known to be good."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tengbc.cli.progress import Bar
from tengbc.cli.solving import exit_code
from tengbc.evidence.baselines.registry import run_baseline
from tengbc.problem import Problem
from tengbc.runs import output
from tengbc.runs.signals import SignalWatch
from tengbc.runs.summary import measure, summary
from tengbc.solver.measure import Truth


def run_and_write(
    solver: str,
    problem: Problem,
    t_end: float | None,
    choices: dict[str, Any],
    out: Path | None,
    quiet: bool,
    imported: float,
) -> None:
    """Solve, print the summary, write it, exit with the outcome's code."""
    if out is not None:
        output.prepare(out)
    began = time.perf_counter()
    end = t_end or problem.t_end
    times = Truth(problem).times(end) if end and Truth(problem).known else None
    with SignalWatch() as watch, Bar(quiet) as bar:

        def report(phase: str, fraction: float, known: dict) -> bool:
            bar(phase, fraction, known)
            return watch.stopping

        run = run_baseline(solver, problem, t_end, times=times, report=report, **choices)
    errors = measure(run)
    seconds = {"import": imported, "total": imported + time.perf_counter() - began}
    content = summary(run, errors, seconds)
    if out is not None:
        output.write_summary(out, content)
    if not quiet:
        _print(content)
    if not run.result:
        print(f"tengbc: {run.result}", file=sys.stderr)
    sys.exit(exit_code(run.result.outcome, watch.received))


def _print(content: dict[str, Any]) -> None:
    table = Table(
        title=f"{content['problem']} with {content['preset']}: {content['outcome']}",
        show_header=False,
    )
    if content["relative_l2_max"] is not None:
        table.add_row("relative L² error, worst", f"{content['relative_l2_max']:.2e}")
        table.add_row("  at the end", f"{content['relative_l2_final']:.2e}")
    table.add_row("unknowns", f"{content['parameters']:,}")
    table.add_row("scheme, steps", f"{content['scheme']}, {content['steps']}")
    seconds = content["seconds"].items()
    table.add_row("seconds", ", ".join(f"{name} {value:.2f}" for name, value in seconds))
    Console(highlight=False).print(table)
