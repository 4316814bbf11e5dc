"""The preset `fast`, to smaller and smaller tolerances."""

from __future__ import annotations

from collections.abc import Iterator

from tengbc.evidence.comparison.trial import OutOfTime, Trial, Watch
from tengbc.outcome import Outcome
from tengbc.problem import Problem
from tengbc.solver import solve
from tengbc.solver.measure import Truth
from tengbc.solver.plan import Report

TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)


def trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Report
) -> Iterator[Trial]:
    """One run for each tolerance; answer and witness both count."""
    for rtol in TOLERANCES:
        watch = Watch(seconds)

        def watched(phase: str, fraction: float, known: dict, watch=watch, rtol=rtol) -> None:
            watch.check()
            report(f"fast {rtol:.0e}", min(watch.passed / seconds, 1.0), {})

        try:
            solution = solve(problem, end, rtol=rtol, throw=False, report=watched)
        except OutOfTime:
            return
        passed, compiling = watch.passed, watch.compiling
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
