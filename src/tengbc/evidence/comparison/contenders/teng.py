"""This package's own two presets."""

from collections.abc import Iterator
from functools import partial

from tengbc.evidence.comparison.trial import Contest, Trial
from tengbc.outcome import Outcome
from tengbc.solver import solve

TOLERANCES = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
FIT_SHARE = 0.4
"""The part of the time after which the initial fit of `paper` has to be content."""


def fast_trials(contest: Contest) -> Iterator[Trial]:
    """One run for each tolerance; answer and companion both count."""
    for rtol in TOLERANCES:
        solver = partial(solve, contest.problem, contest.end, rtol=rtol, throw=False)
        run = contest.timed(f"fast {rtol:.0e}", solver)
        if run is None:
            return
        solution, passed, compiling = run
        outcome = solution.result.outcome
        if outcome in (Outcome.DIVERGED, Outcome.NON_FINITE):
            return
        yield Trial(
            f"rtol {rtol:.0e}",
            passed,
            compiling,
            int(solution.parameters.start[solution.parameters.head].size),
            contest.errors(solution.at_times),
            float(solution.times[-1]),
            note=f"estimated error {solution.error_estimate.max():.1e}",
            march=solution.seconds["march"],
        )
        if outcome is Outcome.TOLERANCE_NOT_REACHED or passed > contest.watch.left / 1.5:
            return


def paper_trials(contest: Contest) -> Iterator[Trial]:
    """One run with the paper's own choices, stopped when the time is over.

    Its error is that of the times it reached, which are few in a minute, and the note says so.
    """
    problem, end, watch = contest.problem, contest.end, contest.watch

    def watched(phase: str, fraction: float, known: dict) -> bool:
        contest.progress("paper", watch.share, {"phase": phase})
        return watch.share > FIT_SHARE  # ends the initial fit

    def over(record, state) -> bool:
        return watch.share >= 1.0

    solution = solve(problem, end, preset="paper", throw=False, progress=watched, callbacks=[over])
    passed, compiling = watch.stopwatch.lap()
    reached = float(solution.times[-1])
    errors = contest.errors(solution.at_times, reached)
    complete = reached >= end * (1 - 1e-12)
    note = "" if complete else f"reached t = {reached:.3g} of {end:g}; error up to there"
    if passed > 1.1 * contest.seconds:
        note += "; the initial fit and one step take longer than the seconds"
    setting, unknowns = "heun, dt 5e-4", len(solution.parameters)
    known = (unknowns, errors, reached, complete, note)
    yield Trial(setting, passed, compiling, *known, march=solution.seconds["march"])
