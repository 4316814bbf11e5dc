"""What `tengbc run` and `tengbc resume` do once their options are known to be good."""

from __future__ import annotations

import sys

from tengbc.cli.closing import print_json, print_summary
from tengbc.cli.progress import Bar
from tengbc.cli.say import say
from tengbc.errors import ProblemError
from tengbc.outcome import Outcome
from tengbc.problem import Problem
from tengbc.runs.checkpoints import Checkpoint
from tengbc.runs.config import Config
from tengbc.runs.directory import RunDirectory
from tengbc.runs.session import ending_in, run_in_directory, run_plainly
from tengbc.solver.examine import examine


def exit_code(outcome: Outcome, signal: int | None = None) -> int:
    """The code of an outcome; that of the signal, 130 or 143, where one ended the run."""
    if outcome is Outcome.INTERRUPTED and signal is not None:
        return 128 + signal
    return outcome.exit_code


def solve_and_write(
    problem: Problem,
    chosen: Config,
    directory: RunDirectory | None,
    before: Checkpoint | None,
    quiet: bool,
    imported: float,
    as_json: bool = False,
) -> None:
    """Solve, print the summary, write the files, exit with the outcome's code."""
    with ending_in(directory, problem, chosen, new=before is None):
        _check(problem, chosen)
        with Bar(quiet) as bar:
            if directory is None:
                ended = run_plainly(problem, chosen, bar, imported)
            else:
                ended = run_in_directory(problem, chosen, directory, before, bar, imported)
    solution, content = ended.solution, ended.content
    if content is not None:
        if as_json:
            print_json(content)
        elif not quiet:
            files = [] if directory is None else [directory.path, *ended.files[1:]]
            print_summary(solution, ended.errors, content, files)
    if not solution.result:
        text = f"{solution.result}"
        if content is None and directory is not None:
            text = f"{text.rstrip('.')}; go on with `tengbc resume {directory.path}`."
        say(text)
    sys.exit(exit_code(solution.result.outcome, ended.signal))


def _check(problem: Problem, chosen: Config) -> None:
    """Say what is doubtful about a problem, refuse what is wrong."""
    for finding in examine(problem, chosen.options, thorough=False):
        if finding.level == "error":
            raise finding.error or ProblemError(finding.text)
        if finding.level == "warning":
            say(finding.text)
