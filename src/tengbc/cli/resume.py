"""tengbc resume: go on with a run that was interrupted, killed or out of space."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.problem_argument import check_problem, load_problem
from tengbc.cli.say import say
from tengbc.outcome import outcome_named


def resume(
    directory: Annotated[Path, typer.Argument(help="The --out directory of the run.")],
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
) -> None:
    """Go on with the run in DIRECTORY from its newest good checkpoint."""
    began = time.perf_counter()
    from tengbc.runs.directory import RunDirectory, finished
    from tengbc.runs.newest import newest_checkpoint

    outcome = finished(directory)
    if outcome is not None:  # killed after its last word, perhaps: no error, but nothing to do
        say(f"{directory} is finished already ({outcome}); look at its summary.json.")
        known = outcome_named(outcome)
        raise typer.Exit(1 if known is None else known.exit_code)
    opened, chosen = RunDirectory.open(directory)
    check_problem(chosen.problem)
    before = newest_checkpoint(opened, chosen, say)
    from tengbc.cli.solving import solve_and_write

    imported = time.perf_counter() - began
    solve_and_write(load_problem(chosen.problem), chosen, opened, before, quiet, imported, as_json)
