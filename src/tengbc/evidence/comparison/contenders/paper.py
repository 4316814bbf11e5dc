"""The preset `paper`, as far as it gets."""

from __future__ import annotations

from collections.abc import Iterator

from tengbc.evidence.comparison.trial import Trial, Watch
from tengbc.problem import Problem
from tengbc.solver import solve
from tengbc.solver.measure import Truth
from tengbc.solver.plan import Report

FIT_SHARE = 0.4
"""The part of the time after which the initial fit has to be content."""


def trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Report
) -> Iterator[Trial]:
    """One run with the paper's own choices, stopped when the time is over.

    Its error is that of the times it reached, which are few in a minute, and the note says so.
    """
    watch = Watch(seconds)

    def watched(phase: str, fraction: float, known: dict) -> bool:
        report("paper", min(watch.passed / seconds, 1.0), {"phase": phase})
        return watch.passed > FIT_SHARE * seconds  # ends the initial fit

    def over(record, state) -> bool:
        return watch.passed > seconds

    solution = solve(problem, end, preset="paper", throw=False, report=watched, callbacks=[over])
    passed, compiling = watch.passed, watch.compiling
    reached = float(solution.times[-1])
    errors = truth.errors(solution.at_times, reached)
    assert errors is not None
    complete = reached >= end * (1 - 1e-12)
    note = "" if complete else f"reached t = {reached:.3g} of {end:g}; error up to there"
    if passed > 1.1 * seconds:
        note += "; the initial fit and one step take longer than the seconds"
    yield Trial(
        "heun, dt 5e-4",
        passed,
        compiling,
        len(solution.parameters),
        errors,
        reached,
        complete,
        note,
    )
