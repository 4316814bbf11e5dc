"""tengbc run: solve a problem and leave a directory with the result."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.problem_argument import check_problem, complete_problem, load_problem
from tengbc.costs import check_options
from tengbc.errors import UsageError
from tengbc.options import Options
from tengbc.problems.catalog import CATALOG
from tengbc.runs.config import config, read_config, to_toml


def run(
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from `tengbc list`, FILE.py:NAME, which runs that Python file, or a TOML "
            "file with options.",
            autocompletion=complete_problem,
        ),
    ],
    preset: Annotated[str | None, typer.Option(help="fast (default) or paper.")] = None,
    scheme: Annotated[str | None, typer.Option(help="Time scheme of the preset.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time step.")] = None,
    t_end: Annotated[float | None, typer.Option(help="Final time.")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative error to reach.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random choices.")] = None,
    widths: Annotated[str | None, typer.Option(help="Hidden layers, such as 40,40,40.")] = None,
    features: Annotated[int | None, typer.Option(help="Number of features (fast).")] = None,
    per_axis: Annotated[
        int | None, typer.Option(help="Interior grid points per axis (paper).")
    ] = None,
    interior_points: Annotated[int | None, typer.Option(help="Interior points.")] = None,
    boundary_points: Annotated[int | None, typer.Option(help="Boundary points.")] = None,
    cutoff: Annotated[
        float | None, typer.Option(help="Relative cut-off of singular values.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Least-squares iterations per stage (paper).")
    ] = None,
    subset: Annotated[int | None, typer.Option(help="Parameters per iteration (paper).")] = None,
    lstsq: Annotated[str | None, typer.Option(help="svd or gram (paper).")] = None,
    stage_data: Annotated[
        str | None,
        typer.Option(help="What stages ask on the boundary: time, consistent, values (paper)."),
    ] = None,
    fit_iterations: Annotated[
        int | None, typer.Option(help="Iterations of the initial fit (paper).")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for the results.")] = None,
    checkpoint_every: Annotated[
        float | None, typer.Option(help="Seconds between checkpoints (default 30).")
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print this command line as a TOML file.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
) -> None:
    """Solve PROBLEM and print a summary; with --out, leave a report and all a resume needs."""
    began = time.perf_counter()
    given = {name: value for name, value in locals().items() if name in _OPTIONS}
    given |= {"widths": _widths(widths), "out": out, "checkpoint_every": checkpoint_every}
    given = {name: value for name, value in given.items() if value is not None}
    from_file = read_config(Path(problem)) if problem.endswith(".toml") else {"problem": problem}
    chosen = config(from_file | given)  # before JAX is imported: bad options cost no time
    check_problem(chosen.problem)
    check_options(chosen.options, dim=2 if chosen.problem in CATALOG else 1)
    if print_config:
        print(to_toml(chosen), end="")
        return
    from tengbc.runs.directory import RunDirectory

    directory = None if chosen.out is None else RunDirectory.create(chosen.out, chosen)
    from tengbc.cli.solving import solve_and_write

    imported = time.perf_counter() - began
    try:
        loaded = load_problem(chosen.problem)
    except BaseException:
        if directory is not None:
            directory.withdraw()
            directory.close()
        raise
    solve_and_write(loaded, chosen, directory, None, quiet, imported, as_json)


_OPTIONS = frozenset(Options.model_fields)


def _widths(text: str | None) -> tuple[int, ...] | None:
    """Comma-separated integers; their size is left for the options to judge."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"widths is {text!r}, but it should be whole numbers with commas between them; write "
            f"it like 40,40,40."
        ) from None
