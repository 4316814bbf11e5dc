"""The preset `fast`: frozen features, implicit collocation in time, and a witness for the error.

Two solutions are computed: the answer, and a witness with other features, other points and half the
time step. Their difference is the error of the answer, up to that of the witness, which is no
larger. So the error that is stated was measured, not bounded. Where it exceeds the tolerance, a
third solution with the answer's features and the witness's step tells what comes from time and what
from space, and the next level is finer in what is to blame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tengbc.estimate import MOST_FEATURES
from tengbc.geometry.points import Points
from tengbc.journal import NO_JOURNAL, Journal
from tengbc.options import Options
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.solver.clock import Onset
from tengbc.solver.compatibility import initial_mismatch
from tengbc.solver.level import Level, chosen_scheme, first_level, gradable, solve_level
from tengbc.solver.march import Callback
from tengbc.solver.sampling import boundary_points
from tengbc.solver.solution import Solution
from tengbc.types import Progress as Report

Array = np.ndarray
DEFAULT_TOLERANCE = 1e-6
UNSEEN = 1024
"""Points at which answer and witness are compared."""
ATTEMPTS = 5
"""How many levels are tried before the tolerance is given up."""
LOST_LEVELS = 3
"""A problem whose answer diverges on so many levels in a row is given up."""
GAIN = 0.4
"""A level that leaves more of the error than this will not be the last but one."""
SHARE = 0.25
"""The part of the tolerance that a step is chosen for."""
STEEPEST = 5
"""The order in Δt that is counted on where a scheme's own is higher: moving boundary data and the
interpolation between steps leave not much more."""
SPILL = 1e-3
"""So much of an error in time may show as one in space: no features feel it quite the same."""
MOST_STEPS = 20_000
"""Steps are not made shorter than for so many in all, unless the user asks for it."""
FADED = 1e-10
"""What is left of a solution that has fallen below this part of its initial size is round-off."""
INITIAL_LAYER = 0.05
"""The part of the time that an initial layer of incompatible data is given to spread."""


def solve_fast(
    problem: Problem,
    options: Options,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback] = (),
    journal: Journal = NO_JOURNAL,
) -> Solution:
    """Solve with frozen features to the tolerance, and state the error."""
    tolerance = _tolerance(problem, options)
    options = options.model_copy(update={"rtol": tolerance})
    level = first_level(problem, options, t_end, tolerance)
    mismatch, drift = initial_mismatch(problem, boundary_points(problem.domain, 64), t_end)
    smooth = max([*mismatch.values(), *drift.values()], default=0.0) <= tolerance
    layer = 0.0 if smooth else INITIAL_LAYER * t_end
    solved = _Solved(problem, options, t_end, report, callbacks, mismatch, journal)
    best, least = None, math.inf
    for attempt in range(1, ATTEMPTS + 1):
        last = bool(options.features or options.dt) or attempt == ATTEMPTS
        largest = last or level.richer().features > MOST_FEATURES
        answer = solved(level, f"answer {attempt}")
        if not answer.result:
            lost = answer.result.outcome is Outcome.DIVERGED
            if lost and best is not None:
                break  # an earlier level knows its error, which is worth more
            if lost and not largest and attempt < LOST_LEVELS:
                level = level.richer().shorter()  # it may have been too coarse
                continue
            return replace(answer, seconds=solved.seconds)
        witness = solved(level.witness(), f"witness {attempt}", "witness")
        if not witness.result:
            # A witness that was lost says that this level is not to be trusted, no more.
            lost = witness.result.outcome is Outcome.DIVERGED
            if not lost or (largest and best is None):
                return replace(answer, result=witness.result, seconds=solved.seconds)
            if largest:
                break
            level = level.richer().shorter()
            continue
        unseen = level.kind.interior(problem, UNSEEN, 987_654_321)
        answer = replace(answer, error_estimate=difference(answer, witness, unseen))
        worst = _worst(answer.error_estimate, answer, layer)
        # Levels without a digit say nothing about the next one, unless there is nothing left of u.
        stalled = worst > GAIN * least and (least < 1 or _faded(answer) is not None)
        enough = worst <= tolerance or last or stalled
        if best is None or worst < least:  # a finer level need not be a better one
            best, least = answer, worst
        if enough:
            break
        halved = solved(level.halved(), f"halved {attempt}", "half steps")
        if not halved.result:
            if halved.result.outcome is not Outcome.DIVERGED:
                return replace(best, result=halved.result, seconds=solved.seconds)
            if largest:
                break
            level = level.richer().shorter()
            continue
        in_space = _worst(difference(halved, witness, unseen), halved, layer) / tolerance
        in_time = np.minimum(difference(answer, halved, unseen), 1.0) / tolerance  # 1: no digit
        in_time[answer.times < layer] = 0.0
        order, graded = chosen_scheme(options).order, gradable(problem, options)
        level = finer(level, answer.times, in_time, in_space, order, graded)
        if level.features > MOST_FEATURES:
            break
    assert best is not None
    answer = replace(best, seconds=solved.seconds)
    if least <= tolerance:
        text = _layer_text(mismatch, drift, layer, answer)
        return replace(answer, result=Result(Outcome.DONE, text))
    text = f"the error is near {least:.1e} where {tolerance:.1e} was asked for; {_advice(answer)}."
    return replace(answer, result=Result(Outcome.TOLERANCE_NOT_REACHED, text))


def solve_once(problem: Problem, options: Options, report: Report) -> Solution:
    """Solve on the first level without a witness, so that no error is stated: for those who know
    the truth.
    """
    assert options.t_end is not None
    level = first_level(problem, options, options.t_end, _tolerance(problem, options))
    boundary = boundary_points(problem.domain, 64)
    mismatch, _ = initial_mismatch(problem, boundary, options.t_end)
    stage = NO_JOURNAL.stage("answer")
    return solve_level(problem, options, level, options.t_end, report, (), mismatch, stage)


def finer(
    level: Level,
    times: Float[Array, " k"],
    in_time: Float[Array, " k"],
    in_space: float,
    order: int,
    graded: bool,
) -> Level:
    """The level to try next, from what time and space leave, in units of the tolerance.

    Features grow where space is to blame. Steps are made for SHARE of the tolerance, as errors go
    with the power `order` of a step; where they may be graded, steps at the end are longer than
    those at the beginning if the errors allow it. If neither is to blame, both are made finer.
    """
    neither = max(in_time.max(), in_space) <= 1
    blamed = in_space > max(1.0, SPILL * in_time.max())
    if blamed or neither:
        level = level.richer()
    if neither:
        return level.shorter()
    part = np.minimum(1.0, (SHARE / np.maximum(in_time, SHARE)) ** (1 / min(order, STEEPEST)))
    part = np.minimum.accumulate(part[::-1])[::-1]  # as short as any step after it
    if not graded:
        part[:] = part[0]
    if level.onset is not None:
        part *= [level.onset.part(t) for t in times]
    part = np.maximum(part, min(1.0, times[-1] / MOST_STEPS / level.dt))
    onset = Onset(tuple(times.tolist()), tuple((part / part[-1]).tolist()))
    return replace(level, dt=level.dt * part[-1], onset=onset if part[0] < part[-1] else None)


class _Solved:
    """Solutions of levels, and the seconds that they took together."""

    def __init__(
        self,
        problem: Problem,
        options: Options,
        t_end: float,
        report: Report,
        callbacks: Sequence[Callback],
        mismatch: dict[str, float],
        journal: Journal,
    ):
        self.problem, self.options, self.t_end = problem, options, t_end
        self.report, self.callbacks = report, callbacks
        self.mismatch, self.journal = mismatch, journal
        self.seconds: dict[str, float] = {}

    def __call__(self, level: Level, name: str, purpose: str = "") -> Solution:
        """The solution of a level, whose stage has that name; only answers call anyone back."""
        solution = solve_level(
            self.problem,
            self.options,
            level,
            self.t_end,
            _renamed(self.report, purpose) if purpose else self.report,
            () if purpose else self.callbacks,
            self.mismatch,
            self.journal.stage(name),
        )
        self.seconds = _added(self.seconds, solution.seconds)
        return solution


def _tolerance(problem: Problem, options: Options) -> float:
    return options.rtol or problem.rtol or DEFAULT_TOLERANCE


def _worst(errors: Float[Array, " k"], solution: Solution, layer: float) -> float:
    """The largest error at the solution's times, an initial layer left out."""
    return float(np.max(errors[solution.times >= layer]))


def difference(answer: Solution, witness: Solution, points: Points) -> Float[Array, " k"]:
    """Relative L² distance of two solutions at the answer's times, at points of neither.

    The witness also knows times in between; what the answer misses there, interpolating, counts for
    the stored times on both sides.
    """
    shape = (len(witness.times), len(points), -1)
    ours, theirs = (s.at_times(points.x, witness.times).reshape(shape) for s in (answer, witness))
    weight, largest = np.sqrt(points.w)[:, None], np.max(np.abs(theirs), axis=(1, 2), keepdims=True)
    unit = np.where(largest > 0, largest, 1.0)  # the squares of a faded solution would be zero
    with np.errstate(over="ignore"):
        fields = theirs / unit, (ours - theirs) / unit
        size, found = (np.linalg.norm(weight * field, axis=(1, 2)) for field in fields)
    found = found / np.where(size > 0, size, 1.0)
    first = np.searchsorted(witness.times, np.append(0.0, answer.times[:-1]), side="right") - 1
    after = np.searchsorted(witness.times, np.append(answer.times[1:], answer.times[-1]))
    return np.array([found[i : j + 1].max() for i, j in zip(first, after, strict=True)])


def _layer_text(mismatch: dict, drift: dict, layer: float, answer: Solution) -> str:
    if not layer:
        return ""
    both = {segment: max(mismatch[segment], drift[segment]) for segment in mismatch}
    segment = max(both, key=lambda name: both[name])
    what = "disagree" if mismatch[segment] >= drift[segment] else "move apart"
    return (
        f"initial values and the condition on {segment} {what} by {both[segment]:.1e} at t = 0, "
        f"so the tolerance holds from t = {layer:g} on; before, the error is up to "
        f"{np.max(answer.error_estimate):.1e}."
    )


def _faded(answer: Solution) -> tuple[float, float] | None:
    """When the solution has fallen below FADED of what it was, and to what part; None if never."""
    points = answer.problem.domain.interior(256).x
    sizes = np.abs(answer.at_times(points, answer.times)).reshape(len(answer.times), -1).max(axis=1)
    before = np.maximum.accumulate(sizes)
    faded = np.flatnonzero((sizes <= FADED * before) & (before > 0))
    if not faded.size:
        return None
    first = faded[0]
    return float(answer.times[first]), float(sizes[first] / before[first])


def _advice(answer: Solution) -> str:
    """What to do about a tolerance that was missed."""
    faded = _faded(answer)
    if faded is not None:
        return (
            f"by t = {faded[0]:.3g} the solution has fallen to {faded[1]:.0e} of what it was, "
            f"where an error relative to it says little: end earlier"
        )
    return "accept it with a larger rtol, or give a smaller dt, more features or smoother data"


def _added(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {name: first.get(name, 0.0) + second.get(name, 0.0) for name in {**first, **second}}


def _renamed(report: Report, purpose: str) -> Report:
    """Progress of a solution that is not the answer, under a name that says what it is for."""
    return lambda phase, fraction, known: report(f"{phase} ({purpose})", fraction, known)
