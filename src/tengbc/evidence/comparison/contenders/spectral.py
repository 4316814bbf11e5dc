"""Fourier series on ever finer grids."""

from collections.abc import Iterator
from functools import partial

from tengbc.evidence.baselines.spectral import solve_spectral
from tengbc.evidence.comparison.trial import Contest, Trial

RESOLUTIONS = (32, 64, 128, 256, 512, 1024, 2048)
STEPS_PER_POINT = 4
"""Time steps per grid point: Δt resolves a wave that crosses the box in one unit of time."""


def trials(contest: Contest) -> Iterator[Trial]:
    """One run for each resolution that fits into the seconds."""
    end = contest.end
    problem, times = contest.problem, contest.truth.times(end)
    for resolution in RESOLUTIONS:
        dt = 1.0 / (STEPS_PER_POINT * resolution)
        choices = {"resolution": resolution, "dt": dt, "times": times}
        run = contest.timed("spectral", partial(solve_spectral, problem, end, **choices))
        if run is None:
            return
        solution, passed, compiling = run
        errors, unknowns = contest.errors(solution.at_times), solution.facts["unknowns"]
        yield Trial(f"{resolution} points per axis", passed, compiling, unknowns, errors, end)
        if passed > contest.watch.left / 3:
            return
