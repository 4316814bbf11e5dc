"""What `tengbc run` does once its options are known to be good."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tengbc.cli.closing import print_json, print_summary
from tengbc.cli.progress import Bar
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.runs import output
from tengbc.runs.summary import measure, summary
from tengbc.solver import Outcome, solve

EXIT_CODES = {
    Outcome.DONE: 0,
    Outcome.DIVERGED: 3,
    Outcome.NON_FINITE: 3,
    Outcome.TOLERANCE_NOT_REACHED: 6,
    Outcome.INTERRUPTED: 130,
}


def solve_and_write(
    problem: Problem,
    options: Options,
    out: Path | None,
    quiet: bool,
    imported: float,
    as_json: bool = False,
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
        solution.save(out / "solution.safetensors")
        output.write_history(out, solution.history)
        output.write_summary(out, content)
    if as_json:
        print_json(content)
    elif not quiet:
        print_summary(solution, errors, content, [] if out is None else [out])
    if not solution.result:
        print(f"tengbc: {solution.result}", file=sys.stderr)
    sys.exit(EXIT_CODES[solution.result.outcome])
