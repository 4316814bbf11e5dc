"""NGSolve with ever higher orders, and Radau steps of order three, five and nine."""

from collections.abc import Iterator
from functools import partial

from tengbc.errors import UsageError
from tengbc.evidence.baselines.hpfem import HpSettings, solve_hpfem
from tengbc.evidence.comparison.trial import Contest, Trial

LADDER = (
    # size, order, stages, steps in units of the time, layers around corners, levels at the start
    (0.4, 2, 2, 0.02, 1, 0),
    (0.4, 4, 2, 0.01, 2, 0),
    (0.3, 6, 3, 0.01, 3, 0),
    (0.3, 8, 3, 0.01, 4, 0),
    (0.25, 10, 3, 0.01, 6, 0),
    (0.25, 12, 5, 0.01, 8, 0),
    (0.2, 12, 5, 0.01, 10, 2),
    (0.15, 12, 5, 0.01, 12, 6),
    (0.1, 12, 5, 0.005, 14, 10),
)


def trials(contest: Contest) -> Iterator[Trial]:
    """One run for each line of the ladder that fits into the seconds."""
    times = contest.truth.times(contest.end)
    for size, order, stages, step, corners, start in LADDER:
        settings = HpSettings(size, order, step, stages, corners, start_levels=start, start_steps=2)
        solver = partial(solve_hpfem, contest.problem, contest.end, settings, times=times)
        run = contest.timed("hp-fem", solver)
        if run is None:
            return
        solution, passed, compiling = run
        try:
            errors = contest.errors(solution.at_times)
        except UsageError:  # a coarse mesh does not come near all points: the next one does
            continue
        seconds, march = (passed, compiling), solution.seconds["march"]
        yield Trial(f"{settings}", *seconds, solution.unknowns, errors, contest.end, march=march)
        if passed > contest.watch.left / 2:
            return
