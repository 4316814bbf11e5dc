"""tengbc resume: go on with a run that was interrupted, killed, out of space or out of time."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import check_problem
from tengbc.cli.run import AsJson, Quiet, solve_and_write
from tengbc.options import options
from tengbc.outcome import outcome_named


def resume(
    directory: Annotated[Path, typer.Argument(help="The --out directory of the run.")],
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Seconds for this session; by default those of the run, anew."),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Go on with the run in DIRECTORY from its newest good checkpoint."""
    began = time.perf_counter()
    from tengbc.cli.terminal import say
    from tengbc.runs.directory import RunDirectory, outcome_of

    options(max_seconds=max_seconds)  # checked before the directory is locked
    outcome = outcome_of(directory)
    if outcome is not None:  # its process may have been killed just after it: not an error
        say(f"{directory} is finished already ({outcome}); look at its summary.json.")
        known = outcome_named(outcome)
        raise typer.Exit(1 if known is None else known.exit_code)
    opened, chosen = RunDirectory.open(directory)
    if max_seconds is not None:
        longer = chosen.options.model_copy(update={"max_seconds": max_seconds})
        chosen = replace(chosen, options=longer)
    check_problem(chosen.problem)
    before = opened.newest_checkpoint(chosen, say)
    solve_and_write(chosen, opened, before, quiet, as_json, began, new=False)
