"""Run every solver on a problem, each with the same seconds, and note how it went."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from tengbc.errors import TengbcError, UsageError
from tengbc.evidence.comparison.registry import CONTENDERS
from tengbc.evidence.comparison.trial import Trial
from tengbc.problem import Problem
from tengbc.solver.measure import Truth
from tengbc.solver.plan import Report


@dataclass
class Entry:
    """A solver's trials, or the reason why there are none."""

    solver: str
    trials: list[Trial] = field(default_factory=list)
    reason: str = ""

    @property
    def best(self) -> Trial | None:
        """The most accurate of the complete runs, else the one that got farthest."""
        complete = [trial for trial in self.trials if trial.complete]
        if complete:
            return min(complete, key=lambda trial: trial.errors.worst)
        return max(self.trials, key=lambda trial: trial.reached, default=None)


def compare(
    problem: Problem,
    solvers: Sequence[str],
    seconds: float,
    t_end: float | None = None,
    report: Report = lambda phase, fraction, known: None,
    entries: list[Entry] | None = None,
) -> list[Entry]:
    """One entry for each solver; no run takes longer than the seconds, compilation apart.

    A list of `entries` is filled as results come, so that an interruption leaves what there is.
    """
    end = t_end or problem.t_end
    if end is None:
        raise UsageError("t_end is missing and the problem has none of its own; pass --t-end.")
    truth = Truth(problem)
    if not truth.known:
        raise UsageError(
            "The problem has neither an exact solution nor a reference, so that errors cannot be "
            "measured; give Problem an exact=…."
        )
    entries = [] if entries is None else entries
    for solver in solvers:
        entry = Entry(solver)
        entries.append(entry)
        module, _, function = CONTENDERS[solver].partition(":")
        try:
            trials = getattr(importlib.import_module(module), function)
            entry.trials.extend(trials(problem, float(end), seconds, truth, report))
        except TengbcError as error:
            entry.reason = str(error)
        if not entry.trials and not entry.reason:
            entry.reason = f"no run was finished within {seconds:g} s."
    return entries
