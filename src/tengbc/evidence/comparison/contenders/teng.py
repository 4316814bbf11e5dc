"""This package's own two presets."""

from __future__ import annotations

from collections.abc import Iterator

from tengbc.evidence.comparison.trial import OutOfTime, TimeLimit, Trial
from tengbc.outcome import Outcome
from tengbc.problem import Problem
from tengbc.solution.measure import Truth
from tengbc.solver import solve
from tengbc.types import Progress

TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
FIT_SHARE = 0.4
"""The part of the time after which the initial fit of `paper` has to be content."""


def fast_trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Progress
) -> Iterator[Trial]:
    """One run for each tolerance; answer and witness both count."""
    for rtol in TOLERANCES:
        limit = TimeLimit(seconds)

        def watched(phase: str, fraction: float, known: dict, limit=limit, rtol=rtol) -> None:
            limit.check()
            report(f"fast {rtol:.0e}", limit.share, {})

        try:
            solution = solve(problem, end, rtol=rtol, throw=False, report=watched)
        except OutOfTime:
            return
        passed, compiling = limit.stopwatch.lap()
        if solution.result.outcome in (Outcome.DIVERGED, Outcome.NON_FINITE):
            return
        errors = truth.errors(solution.at_times, end)
        assert errors is not None
        yield Trial(
            f"rtol {rtol:.0e}",
            passed,
            compiling,
            int(solution.parameters.start[solution.parameters.head].size),
            errors,
            float(solution.times[-1]),
            note=f"estimated error {solution.error_estimate.max():.1e}",
        )
        if solution.result.outcome is Outcome.TOLERANCE_NOT_REACHED or passed > seconds / 1.5:
            return


def paper_trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Progress
) -> Iterator[Trial]:
    """One run with the paper's own choices, stopped when the time is over.

    Its error is that of the times it reached, which are few in a minute, and the note says so.
    """
    limit = TimeLimit(seconds)

    def watched(phase: str, fraction: float, known: dict) -> bool:
        report("paper", limit.share, {"phase": phase})
        return limit.share > FIT_SHARE  # ends the initial fit

    def over(record, state) -> bool:
        return limit.share >= 1.0

    solution = solve(problem, end, preset="paper", throw=False, report=watched, callbacks=[over])
    passed, compiling = limit.stopwatch.lap()
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
