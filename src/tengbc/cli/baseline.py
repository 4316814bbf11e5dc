"""tengbc baseline: solve a problem with a competitor, same summary.json."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.problem_argument import check_problem, complete_problem, load_problem
from tengbc.evidence.baselines.registry import BASELINES, check_baseline


def baseline(
    solver: Annotated[str, typer.Argument(help=", ".join(BASELINES))],
    problem: Annotated[
        str, typer.Argument(help="A name or FILE.py:NAME.", autocompletion=complete_problem)
    ],
    resolution: Annotated[
        int | None, typer.Option(help="Cells (fem) or points (spectral) across the domain.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Time step (fem, spectral).")] = None,
    scheme: Annotated[str | None, typer.Option(help="Time scheme (fem).")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds of training (pinn).")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps of training (pinn).")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random choices (pinn).")] = None,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own setting.")] = False,
    t_end: Annotated[float | None, typer.Option(help="Final time.")] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for summary.json.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Solve PROBLEM with a baseline SOLVER; Ctrl-C ends it with what it has."""
    began = time.perf_counter()
    given = {
        "resolution": resolution,
        "dt": dt,
        "scheme": scheme,
        "seconds": seconds,
        "steps": steps,
        "seed": seed,
    }
    choices = {name: value for name, value in given.items() if value is not None}
    check_baseline(solver, choices)
    check_problem(problem)
    choices = {**(BASELINES[solver].paper if paper else {}), **choices}
    from tengbc.cli.baseline_run import run_and_write

    imported = time.perf_counter() - began
    run_and_write(solver, load_problem(problem), t_end, choices, out, quiet, imported)
