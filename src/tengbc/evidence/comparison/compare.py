"""Run every solver on a problem, each with the same seconds, and note how it went."""

import importlib
from collections.abc import Sequence

from tengbc.errors import TengbcError, UsageError
from tengbc.evidence.baselines.solution import final_time
from tengbc.evidence.comparison.registry import CONTENDERS
from tengbc.evidence.comparison.trial import Contest, SolverTrials, Watch
from tengbc.problem import Problem
from tengbc.solution.measure import Truth
from tengbc.types import Progress


def compare(
    problem: Problem,
    solvers: Sequence[str],
    seconds: float,
    t_end: float | None = None,
    progress: Progress = lambda phase, fraction, known: None,
    entries: list[SolverTrials] | None = None,
) -> list[SolverTrials]:
    """One entry for each solver, whose runs together take the seconds at most, compilation apart.

    A list of `entries` is filled as results come, so that an interruption leaves what there is.
    """
    end, truth = final_time(problem, t_end), Truth(problem)
    if not truth.known:
        raise UsageError(
            "The problem has neither an exact solution nor a reference, so that errors cannot be "
            "measured; give Problem an exact=…."
        )
    entries = [] if entries is None else entries
    for solver in solvers:
        entry = SolverTrials(solver)
        entries.append(entry)
        module, _, function = CONTENDERS[solver].partition(":")
        try:
            trials = getattr(importlib.import_module(module), function)
            contest = Contest(problem, end, seconds, truth, progress, Watch(seconds))
            entry.trials.extend(trials(contest))
        except TengbcError as error:
            entry.reason = str(error)
        if not entry.trials and not entry.reason:
            entry.reason = f"no run was finished within {seconds:g} s."
    return entries
