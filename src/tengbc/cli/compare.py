"""tengbc compare: solvers side by side on one problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.problem_argument import check_problem, complete_problem, load_problem
from tengbc.errors import UsageError
from tengbc.evidence.comparison.registry import CONTENDERS, chosen_solvers


def compare(
    problem: Annotated[
        str, typer.Argument(help="A name or FILE.py:NAME.", autocompletion=complete_problem)
    ],
    solvers: Annotated[str, typer.Option(help="Names with commas between them.")] = ",".join(
        CONTENDERS
    ),
    seconds: Annotated[float, typer.Option(help="Wall clock for a run of each solver.")] = 60.0,
    t_end: Annotated[float | None, typer.Option(help="Final time.")] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for table and plot.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no table.")] = False,
) -> None:
    """Give every solver the same SECONDS on PROBLEM and compare errors at the same points.

    A solver is run several times, from coarse to fine, no run taking longer than the seconds;
    compilation is stated apart.
    """
    names = chosen_solvers(solvers)
    if not 0 < seconds < 1e7:
        raise UsageError(f"seconds is {seconds:g}, but it must be positive and finite; change it.")
    check_problem(problem)
    from tengbc.cli.comparing import compare_and_write

    compare_and_write(load_problem(problem), problem, names, seconds, t_end, out, quiet)
