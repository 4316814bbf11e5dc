"""Fourier series on ever finer grids."""

from __future__ import annotations

from collections.abc import Iterator

from tengbc.evidence.baselines.spectral import solve_spectral
from tengbc.evidence.comparison.trial import OutOfTime, TimeLimit, Trial
from tengbc.problem import Problem
from tengbc.solution.measure import Truth
from tengbc.types import Progress

RESOLUTIONS = (32, 64, 128, 256, 512, 1024, 2048)
STEPS_PER_POINT = 4
"""Time steps per grid point: Δt resolves a wave that crosses the box in one unit of time."""


def trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Progress
) -> Iterator[Trial]:
    """One run for each resolution that fits into the seconds."""
    for resolution in RESOLUTIONS:
        limit = TimeLimit(seconds)

        def watched(phase: str, fraction: float, known: dict, limit=limit) -> None:
            limit.check()
            report("spectral", limit.share, {})

        try:
            solution = solve_spectral(
                problem,
                end,
                resolution=resolution,
                dt=1.0 / (STEPS_PER_POINT * resolution),
                times=truth.times(end),
                report=watched,
            )
        except OutOfTime:
            return
        passed, compiling = limit.stopwatch.lap()
        errors = truth.errors(solution.at_times, end)
        assert errors is not None
        unknowns = int(str(solution.facts["unknowns"]))
        yield Trial(f"{resolution} points per axis", passed, compiling, unknowns, errors, end)
        if passed > seconds / 3:
            return
