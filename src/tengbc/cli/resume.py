"""tengbc resume: go on with a run that was interrupted, killed, out of space or out of time."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import check_problem
from tengbc.cli.processes import Coordinator, Process, Processes, team_of
from tengbc.cli.run import AsJson, Quiet, meet, solve_and_write
from tengbc.errors import UsageError
from tengbc.options import options
from tengbc.outcome import outcome_named


def resume(
    directory: Annotated[Path, typer.Argument(help="The --out directory of the run.")],
    max_seconds: Annotated[
        float | None,
        typer.Option(help="Seconds for this session; by default those of the run, anew."),
    ] = None,
    devices: Annotated[
        int | None, typer.Option(help="Devices for this session; by default those of the run.")
    ] = None,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process: Process = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Go on with the run in DIRECTORY from its newest good checkpoint."""
    began = time.perf_counter()
    from tengbc.cli.terminal import say
    from tengbc.runs.directory import RunDirectory, outcome_of, read_run

    options(max_seconds=max_seconds, devices=devices)  # checked before the directory is locked
    outcome = outcome_of(directory)
    if outcome is not None:  # its process may have been killed just after it: not an error
        say(f"{directory} is finished already ({outcome}); look at its summary.json.")
        known = outcome_named(outcome)
        raise typer.Exit(1 if known is None else known.exit_code)
    chosen = read_run(directory)
    if devices is not None and chosen.options.devices is None:
        raise UsageError(
            f"The run in {directory} was begun without devices, and goes on as it began; leave "
            f"out --devices."
        )
    asked = {"max_seconds": max_seconds, "devices": devices}
    changes = {name: value for name, value in asked.items() if value is not None}
    chosen = replace(chosen, options=chosen.options.model_copy(update=changes))
    check_problem(chosen.problem)
    meet(chosen, team_of(coordinator, processes, process, chosen.options))
    if chosen.options.devices is None:
        opened = RunDirectory(directory)
        before = opened.newest_checkpoint(chosen, say)
    else:
        from tengbc.runs.checkpoints import Checkpoints
        from tengbc.runs.processes import agree, by_first, first

        opened = by_first(lambda: RunDirectory(directory))
        before = by_first(lambda: opened and opened.newest_checkpoint(chosen, say))
        if not first():  # what is damaged has been set aside by the first
            before, _ = Checkpoints(directory / "checkpoints").newest()
        agree(chosen, before)
    solve_and_write(chosen, opened, before, quiet, as_json, began, new=False)
