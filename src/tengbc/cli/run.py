"""tengbc run: solve a problem and leave a directory with the result."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tengbc.cli.arguments import check_problem, complete_problem, with_options
from tengbc.cli.processes import Coordinator, Process, Processes, Team, supervised, team_of
from tengbc.costs import check_options
from tengbc.options import Options
from tengbc.outcome import Outcome
from tengbc.problems.catalog import CATALOG
from tengbc.runs.config import Config, config, read_config, to_toml

if TYPE_CHECKING:
    from tengbc.runs.checkpoints import Checkpoint
    from tengbc.runs.directory import RunDirectory

Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no summary.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
]


@with_options(Options)
def run(
    problem: Annotated[
        str,
        typer.Argument(
            help="A name from `tengbc list`, FILE.py:NAME, which runs that Python file, "
            "'FILE.py:NAME(kappa=0.1)' with numbers for a function, or a TOML file with options.",
            autocompletion=complete_problem,
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Directory for the results.")] = None,
    checkpoint_every: Annotated[
        float | None, typer.Option(help="Seconds between checkpoints (default 30).")
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print this command line as a TOML file.")
    ] = False,
    coordinator: Coordinator = None,
    processes: Processes = None,
    process: Process = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Solve PROBLEM and print a summary; with --out, leave a report and all a resume needs."""
    began = time.perf_counter()
    given = {**options, "out": out, "checkpoint_every": checkpoint_every}
    given = {name: value for name, value in given.items() if value is not None}
    from_file = read_config(Path(problem)) if problem.endswith(".toml") else {"problem": problem}
    chosen = config(from_file | given)  # before JAX is imported: bad options cost no time
    check_problem(chosen.problem)
    check_options(chosen.options, dim=2 if chosen.problem in CATALOG else 1)
    if print_config:
        print(to_toml(chosen), end="")
        return
    meet(chosen, team_of(coordinator, processes, process, chosen.options))
    from tengbc.runs.directory import RunDirectory

    out, directory = chosen.out, None
    if chosen.options.devices is None and out is not None:
        directory = RunDirectory.create(out, chosen)
    elif chosen.options.devices is not None:
        from tengbc.runs.processes import agree, by_first

        agree(chosen)
        directory = by_first(lambda: None if out is None else RunDirectory.create(out, chosen))
    solve_and_write(chosen, directory, None, quiet, as_json, began)


def meet(chosen: Config, team: Team) -> None:
    """Make devices, and meet the other processes, before anything uses JAX."""
    if chosen.options.devices is None:
        return
    met = supervised(team)
    from tengbc.runs.processes import join, use_devices

    use_devices(chosen.options.devices, team.processes)
    if team.processes > 1:
        join(team.coordinator, team.processes, team.process)
    met()


def solve_and_write(
    chosen: Config,
    directory: RunDirectory | None,
    before: Checkpoint | None,
    quiet: bool,
    as_json: bool,
    began: float,
    new: bool = True,
) -> None:
    """Solve, print the summary, write the files, exit with the outcome's code.

    `before` is the checkpoint to go on from, `began` when the command began. A new run that is
    refused leaves its directory free for another.
    """
    from tengbc.cli.terminal import print_json, print_summary, say
    from tengbc.progress import Bar
    from tengbc.runs.processes import first
    from tengbc.runs.session import carry_out

    imported = time.perf_counter() - began
    with Bar(quiet or not first()) as bar:
        ended = carry_out(chosen, directory, before, bar, imported, say, new)
    solution, content = ended.solution, ended.content
    if content is not None:
        if as_json:
            print_json(content)
        elif not quiet:
            files = [] if directory is None else [directory.path, *ended.files[1:]]
            print_summary(solution, ended.errors, content, files)
    if not solution.result:
        text = f"{solution.result}"
        if solution.result.outcome.resumable and directory is not None:
            text = f"{text.rstrip('.')}; go on with `tengbc resume {directory.path}`."
        if first():
            say(text)
    sys.exit(exit_code(solution.result.outcome, ended.signal))


def exit_code(outcome: Outcome, signal: int | None = None) -> int:
    """The code of an outcome; that of the signal, 130 or 143, where one ended the run."""
    if outcome is Outcome.INTERRUPTED and signal is not None:
        return 128 + signal
    return outcome.exit_code
