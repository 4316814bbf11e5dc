"""One session of a run in its directory: from the newest checkpoint to the end, or to a signal."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tengbc.errors import ProblemError, TengbcError, UsageError
from tengbc.journal import NoJournal
from tengbc.outcome import Outcome, result_of
from tengbc.problem import Problem
from tengbc.provenance import threads, versions
from tengbc.report.run_report import leave_report
from tengbc.runs.address import address, load
from tengbc.runs.checkpoint_journal import CheckpointJournal
from tengbc.runs.checkpoints import Checkpoint
from tengbc.runs.config import Config
from tengbc.runs.directory import RunDirectory, write_summary
from tengbc.runs.processes import Follower, first, shared
from tengbc.runs.signals import SignalWatch
from tengbc.solution import Solution
from tengbc.solution.measure import Errors
from tengbc.solution.summary import failed_summary, measure, summary
from tengbc.solver import solve
from tengbc.solver.examine import examine
from tengbc.storage.history_file import HistoryFile
from tengbc.threads import blas_threads
from tengbc.types import Progress


@dataclass(frozen=True)
class Ended:
    """How a session ended; `content` is the summary, None where there is none yet."""

    solution: Solution
    errors: Errors | None = None
    content: dict[str, Any] | None = None
    files: list[Path] = field(default_factory=list)
    signal: int | None = None


def carry_out(
    chosen: Config,
    directory: RunDirectory | None,
    before: Checkpoint | None,
    progress: Progress,
    imported: float,
    warn: Callable[[str], None],
    new: bool = True,
) -> Ended:
    """Load the problem, look at it, solve it and write the files; the directory is closed after.

    `before` is the checkpoint to go on from, `imported` the seconds that imports took, `warn` takes
    a sentence. A new run that is refused leaves its directory free for another.
    """
    try:
        problem = load(address(chosen.problem))
    except BaseException:
        if directory is not None:
            if new:
                directory.withdraw()
            directory.close()
        raise
    with ending_in(directory, problem, chosen, new), blas_threads(1):  # solve may take more
        for finding in examine(problem, chosen.options, thorough=False):
            if finding.level == "error":
                raise finding.error or ProblemError(finding.text)
            if finding.level == "warning" and first():
                warn(finding.text)
        if not first():
            return run_following(problem, chosen, before)
        if directory is None:
            return run_plainly(problem, chosen, progress, imported)
        return run_in_directory(problem, chosen, directory, before, progress, imported)


def run_plainly(problem: Problem, chosen: Config, progress: Progress, imported: float) -> Ended:
    """A run without a directory: nothing is written; a signal ends it with what there is."""
    began, choices = time.perf_counter(), _choices(chosen, imported)
    with SignalWatch() as watch:
        journal = shared(NoJournal(lambda: watch.stopping))
        solution = solve(problem, throw=False, progress=progress, journal=journal, **choices)
    errors = measure(solution)
    spent = {"import": imported, "total": imported + time.perf_counter() - began}
    content = summary(solution, errors, spent)
    return Ended(solution, errors, content, signal=watch.received)


def run_following(problem: Problem, chosen: Config, before: Checkpoint | None) -> Ended:
    """The part of a process that does not write: it solves along with the first."""
    with SignalWatch() as watch:
        journal = shared(Follower(before, lambda: watch.stopping))
        choices = _choices(chosen, 0.0)
        solution = solve(problem, throw=False, progress=False, journal=journal, **choices)
    return Ended(solution, signal=watch.received)


def run_in_directory(
    problem: Problem,
    chosen: Config,
    directory: RunDirectory,
    before: Checkpoint | None,
    progress: Progress,
    imported: float,
) -> Ended:
    """Solve, keeping the directory up to date; the summary is written last, and ends the run.

    A run that is out of time leaves both: its results, and a checkpoint to go on from.
    """
    began = time.perf_counter()
    watch = SignalWatch()
    about = {"options": chosen.hash, "seed": chosen.options.seed}
    journal = CheckpointJournal(
        directory.checkpoints,
        HistoryFile(directory.path / "history.csv"),
        about | {"versions": versions(), "threads": threads()},
        before,
        chosen.checkpoint_every,
        lambda: watch.stopping,
        directory.log,
    )
    (directory.path / "summary.json").unlink(missing_ok=True)
    directory.log("begins anew" if before is None else "goes on from a checkpoint")
    with watch:  # to the very end: a signal while the results are written does not cost them
        choices = _choices(chosen, imported)
        solution = solve(
            problem, throw=False, progress=progress, journal=shared(journal), **choices
        )
        outcome = solution.result.outcome
        if outcome in (Outcome.INTERRUPTED, Outcome.OUT_OF_TIME):
            journal.close()
        directory.log(f"ends: {solution.result}")
        if outcome.resumable and outcome is not Outcome.OUT_OF_TIME:
            return Ended(solution, signal=watch.received)
        errors = measure(solution)
        total = journal.seconds_before + imported + time.perf_counter() - began
        content = summary(solution, errors, {"import": imported, "total": total})
        files = write_results(directory.path, solution, content)
        journal.history.close()
        return Ended(solution, errors, content, files)


def _choices(chosen: Config, spent: float) -> dict[str, Any]:
    """The options as arguments of `solve`; seconds that the command has spent already are over."""
    choices = chosen.options.model_dump(exclude_none=True)
    if "max_seconds" in choices:
        choices["max_seconds"] = max(choices["max_seconds"] - spent, 1e-9)
    return choices


def write_results(directory: Path, solution: Solution, content: dict[str, Any]) -> list[Path]:
    """The solution, its report, and last of all the summary; the paths a user is shown."""
    solution.save(directory / "solution.safetensors")
    report = leave_report(directory, solution, content)
    return [write_summary(directory, content), *report]


@contextlib.contextmanager
def ending_in(
    directory: RunDirectory | None, problem: Problem, chosen: Config, new: bool
) -> Iterator[None]:
    """Errors that end a run before there is a solution are written down too, then raised.

    A new run that was refused leaves its directory free for another; any leaves it to others.
    """
    began = time.perf_counter()
    try:
        yield
    except TengbcError as error:
        result = result_of(error)
        if directory is not None:
            directory.log(f"ends: {error if result is None else result}")
            if result is not None and not result.outcome.resumable:
                spent = time.perf_counter() - began
                failed = failed_summary(problem, chosen.options, result, spent)
                write_summary(directory.path, failed)
            elif new and isinstance(error, UsageError):
                directory.withdraw()
        raise
    finally:
        if directory is not None:
            directory.close()
