"""What `tengbc run` does once its options are known to be good."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tengbc.cli.progress import Bar
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.runs import output
from tengbc.runs.summary import measure, summary
from tengbc.solver import Outcome, Solution, solve
from tengbc.solver.measure import Errors

EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.DIVERGED: 3,
    Outcome.NON_FINITE: 3,
    Outcome.TOLERANCE_NOT_REACHED: 6,
    Outcome.INTERRUPTED: 130,
}


def solve_and_write(
    problem: Problem, options: Options, out: Path | None, quiet: bool, imported: float
) -> None:
    """Solve, print the summary, write the files, exit with the outcome's code."""
    if out is not None:
        output.prepare(out)
    began = time.perf_counter()
    with Bar(quiet) as bar:
        choices = options.model_dump(exclude_none=True)
        solution = solve(problem, throw=False, report=bar, **choices)
    errors = measure(solution)
    seconds = {"import": imported, "total": imported + time.perf_counter() - began}
    content = summary(solution, errors, seconds)
    if out is not None:
        output.write_history(out, solution.history)
        output.write_summary(out, content)
    if not quiet:
        _print(solution, errors, content, out)
    if not solution.result:
        print(f"tengbc: {solution.result}", file=sys.stderr)
    sys.exit(EXIT_CODES[solution.result.outcome])


def _print(solution: Solution, errors: Errors | None, content: dict, out: Path | None) -> None:
    table = Table(title=f"{content['problem']}: {content['outcome']}", show_header=False)
    rows = [
        ("preset, scheme", f"{content['preset']}, {content['scheme']}"),
        ("time", f"0 to {content['t_end']:g} in {content['steps']} steps"),
        (
            "size",
            f"{content['parameters']:,} parameters, {content['interior_points']:,} interior and "
            f"{content['boundary_points']:,} boundary points",
        ),
    ]
    if errors is not None:
        rows += [
            ("relative L² error, worst", f"{errors.worst:.2e}"),
            ("  at the start, at the end", f"{errors.by_time[0][1]:.2e}, {errors.final:.2e}"),
        ]
    if content["error_estimate_max"] is not None:
        rows.append(("estimated error, worst", f"{content['error_estimate_max']:.2e}"))
    rows.append(("seconds", ", ".join(f"{k} {v:.2f}" for k, v in content["seconds"].items())))
    if out is not None:
        rows.append(("written to", str(out)))
    for row in rows:
        table.add_row(*row)
    Console().print(table)
