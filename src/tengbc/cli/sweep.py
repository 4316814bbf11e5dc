"""tengbc sweep: many runs of one problem, and one table of what came out."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tengbc.sweeps.study import read_study

LISTED = 10
"""Runs that were not solved and are listed by name."""


def sweep(
    study: Annotated[Path, typer.Argument(help="A TOML file that says what is varied.")],
    out: Annotated[Path | None, typer.Option(help="Directory for the runs and the table.")] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Processes (default: one per core), or tasks with --slurm.")
    ] = None,
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Let Slurm do the runs, in an array job.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")] = False,
) -> None:
    """Do the runs of STUDY that are missing; after a stop or a kill the same command goes on."""
    chosen = read_study(study, **({} if out is None else {"out": out}))
    from tengbc.cli.terminal import print_table, say
    from tengbc.sweeps.sweep import perform  # JAX after the study has been read

    result, board, signal = perform(chosen, jobs, slurm, quiet)
    unsolved = result.failed
    if not quiet:
        rows = [("runs solved", f"{len(result) - len(unsolved)} of {len(result)}")]
        rows += [(f"run {r['run']}", _story(r, board.outcomes)) for r in unsolved[:LISTED]]
        if len(unsolved) > LISTED:
            rows.append(("", f"and {len(unsolved) - LISTED} more, in sweep.csv"))
        rows += [("written to", str(chosen.out / name)) for name in ("sweep.csv", "sweep.html")]
        print_table(f"{study}: {board.headline}", rows)
    if signal is not None:
        goes_on = "; Slurm goes on with the jobs" if slurm else ""
        say(f"interrupted{goes_on}; the same command does what is missing.")
        sys.exit(128 + signal)
    sys.exit(1 if unsolved else 0)


def _story(row: dict, outcomes: dict[int, tuple[str, str]]) -> str:
    """What became of a run; a process that was killed is known to this session only."""
    outcome, message = outcomes.get(row["run"], (row["outcome"], row["message"]))
    return f"{outcome}: {message}" if message else outcome
