"""The preset `fast` on periodic boxes with nonlinear equations: waves that follow the solution.

Two solutions are computed: a rehearsal with fewer waves and larger steps, then the answer. Their
difference is the error of the rehearsal, measured. That of the answer follows from it: the error
of either is in proportion to what its shortest waves hold. If the answer is not good enough, it was
a rehearsal for the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tengbc.deformation.march import SIZES, Marched, march_deformed
from tengbc.deformation.snapshots import marched_of, snapshot_of
from tengbc.errors import DivergedError, NonFiniteError, OutputError, UsageError
from tengbc.fourier import needed_derivatives
from tengbc.history import Record
from tengbc.journal import NO_JOURNAL, Journal, Stage
from tengbc.networks import Parameters
from tengbc.networks.deformed_waves import DeformedWaves
from tengbc.networks.network import with_head
from tengbc.options import Options
from tengbc.outcome import Outcome, Result, unwritten
from tengbc.problem import Problem
from tengbc.projection.structure import structure
from tengbc.schemes import State
from tengbc.solver.march import Callback
from tengbc.solver.measure import TIMES
from tengbc.solver.solution import Solution
from tengbc.timing import Stopwatch
from tengbc.types import Progress as Report

Array = np.ndarray
DEFAULT_TOLERANCE = 1e-6
FILL = 1.0
"""What the shortest waves may hold of the solution at the end, per unit of the tolerance."""
COARSER = 16.0
"""What the shortest waves of the rehearsal may hold, per unit of the answer's."""
STEPS = 200
"""The fewest steps of a run."""
ANSWERS = 3
LEAST_GAIN = 1 / 256
"""No answer is believed to be better than its rehearsal by more: twice the waves, Δt⁴ at Δt/4."""
CHECKED = 2
"""The answer is compared with its rehearsal at every so many stored times."""


@dataclass(frozen=True)
class Level:
    """How fine a solution is: what its shortest waves may hold, and its largest step."""

    fill: float
    largest_step: float
    surpassed: tuple[tuple[float, int], ...] = ((0.0, 0),)
    """From which time on a rehearsal had how many points per axis: an answer has more."""

    def finer(self, rehearsal: Solution) -> Level:
        """The level of the answer to a rehearsal on this one."""
        grown = rehearsal.facts["points_per_axis"]
        assert isinstance(grown, list)
        grown = tuple((float(t), int(n)) for t, n in grown)
        return Level(self.fill / COARSER, self.largest_step / 2, grown)

    def least(self, t: float) -> int:
        """Points per axis at time t: more than the rehearsal had."""
        reached = max(n for since, n in self.surpassed if since <= t + 1e-9)
        return next((n for n in SIZES if n > reached), SIZES[-1])


def deformable(problem: Problem, options: Options) -> bool:
    """Whether this solver is the one to take: periodic, nonlinear, at most second derivatives."""
    if not problem.domain.periodic or problem.domain.dim > 3 or options.features or options.scheme:
        return False
    lower, _ = problem.domain.bounds
    if structure(problem.equation.rhs, problem.shape, lower).affine:
        return False
    try:
        needed_derivatives(problem.equation, problem.domain.dim, problem.shape)
    except UsageError:
        return False
    return True


def solve_deformed(
    problem: Problem,
    options: Options,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback] = (),
    journal: Journal = NO_JOURNAL,
) -> Solution:
    """Solve to the tolerance with waves in deformed coordinates, and state the error."""
    tolerance = options.rtol or problem.rtol or DEFAULT_TOLERANCE
    options = options.model_copy(update={"rtol": tolerance})
    level = Level(COARSER * FILL * tolerance, 2 * (options.dt or t_end / STEPS))
    renamed = lambda phase, fraction, known: report(f"{phase} (rehearsal)", fraction, known)
    rehearsal = _solve_level(problem, options, level, t_end, renamed, (), journal, "rehearsal")
    worst = math.inf
    for attempt in range(ANSWERS):
        if not rehearsal.result:
            return rehearsal
        level, name = level.finer(rehearsal), f"answer {attempt + 1}"
        answer = _solve_level(problem, options, level, t_end, report, callbacks, journal, name)
        if not answer.result:
            return answer
        spent = {k: v + rehearsal.seconds.get(k, 0.0) for k, v in answer.seconds.items()}
        answer = replace(answer, error_estimate=estimate(rehearsal, answer), seconds=spent)
        before, worst = worst, float(np.max(answer.error_estimate))
        if worst <= tolerance:
            return answer
        if attempt == ANSWERS - 1 or options.dt or worst > 0.5 * before:
            break
        rehearsal = answer
    message = (
        f"the error is near {worst:.1e} where {tolerance:.1e} was asked for; accept it with a "
        f"larger rtol, or give a smaller dt or smoother data."
    )
    return replace(answer, result=Result(Outcome.TOLERANCE_NOT_REACHED, message))


def _solve_level(
    problem: Problem,
    options: Options,
    level: Level,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback],
    journal: Journal,
    name: str,
) -> Solution:
    stage, watch = journal.stage(name), Stopwatch()
    found = stage.recall()
    marched = marched_of(found) if found else Marched()
    history: list[Record] = []
    for index in range(len(marched.stored)):
        history.append(_record(marched, index))
        stage.note(history[-1])
    result = Result(Outcome.DONE)
    stopped = False

    def seen(marched: Marched) -> bool:
        nonlocal stopped
        history.append(_record(marched, -1))
        stage.note(history[-1])
        last = marched.stored[-1]
        known = {"time": last.t, "step": last.steps, "points": last.points, "tail": last.tail}
        report("march", last.t / t_end, known)
        stage.offer(lambda: snapshot_of(marched))
        state = State(_theta(last.head, last.potential)) if callbacks else None
        asked = any([callback(history[-1], state) for callback in callbacks if state])
        stopped = (asked or stage.stopping) and last.t < t_end
        return stopped

    if found is None or not found.finished:
        times = np.linspace(0.0, t_end, TIMES + 1)
        try:
            march_deformed(
                problem,
                times,
                fill=level.fill,
                largest_step=level.largest_step,
                least=level.least,
                seen=seen,
                before=marched,
            )
        except NonFiniteError as error:
            result = Result(Outcome.NON_FINITE, str(error))
        except DivergedError as error:
            result = Result(Outcome.DIVERGED, str(error))
        except OutputError as error:
            result = unwritten(error)
        if stopped:
            t = marched.stored[-1].t
            result = Result(Outcome.INTERRUPTED, f"stopped on request at t = {t:.6g} of {t_end:g}.")
        elif result:
            stage.finish(snapshot_of(marched, finished=True))
    if not marched.stored:  # nothing to hand over: not even the start
        raise NonFiniteError(result.message)
    return _solution(problem, options, level, marched, history, result, t_end, stage, watch)


def _record(marched: Marched, index: int) -> Record:
    stored = marched.stored[index]
    waves = int(np.prod(stored.potential.shape))
    measured = {"spectrum_tail": stored.tail, "waves": waves, "compression": stored.compression}
    return Record(stored.steps, stored.t, measured)


def _theta(head: Float[Array, "m 2 ..."], potential: Float[Array, "2 ..."]) -> Float[Array, " p"]:
    """θ = (body, head), the head's bias being the wave k = 0 and so zero."""
    return np.concatenate([potential.ravel(), head.ravel(), np.zeros(len(head))])


def _padded(table: Float[Array, "..."], shape: tuple[int, ...]) -> Float[Array, "..."]:
    """A table with more waves: zeros around, along the last axis only behind."""
    added = [n - m for n, m in zip(shape, table.shape, strict=True)]
    around = [(a // 2, a - a // 2) for a in added[:-1]]
    return np.pad(table, [*around, (0, added[-1])])


def _solution(
    problem: Problem,
    options: Options,
    level: Level,
    marched: Marched,
    history: list[Record],
    result: Result,
    t_end: float,
    stage: Stage,
    watch: Stopwatch,
) -> Solution:
    largest = max((s.potential.shape for s in marched.stored), key=lambda shape: shape[-1])
    components = problem.components or 1
    thetas = np.stack(
        [
            _theta(_padded(s.head, (components, *largest)), _padded(s.potential, largest))
            for s in marched.stored
        ]
    )
    lower, upper = problem.domain.bounds
    body = DeformedWaves(np.zeros(largest), tuple(lower.tolist()), tuple((upper - lower).tolist()))
    parameters = Parameters(with_head(body, problem.components))
    last = marched.stored[-1]
    computing, compiling = watch.lap()
    facts: dict[str, object] = {
        "preset": options.preset,
        "rtol": options.rtol,
        "scheme": "deformed-rk4",
        "dt": t_end / max(last.steps, 1),
        "t_end": t_end,
        "steps": last.steps,
        "seed": options.seed,
        "parameters": len(parameters),
        "interior_points": last.points**problem.domain.dim,
        "boundary_points": 0,
        "march": stage.name,
        "points_per_axis": [[t, n] for t, n in marched.grown],
        "compression": max(s.compression for s in marched.stored),
        "deformation_rate": marched.state.rate if marched.state else None,
    }
    return Solution(
        problem,
        parameters,
        np.array([s.t for s in marched.stored]),
        thetas,
        result,
        history,
        np.full(len(marched.stored), np.nan),
        {"march": computing + stage.seconds_before, "compile": compiling},
        facts,
    )


def estimate(rehearsal: Solution, answer: Solution) -> Float[Array, " k"]:
    """The error of the answer at each stored time, from its distance to the rehearsal.

    The distance is measured at points of neither, at every second time; those in between get the
    larger of their neighbours'. It is scaled by the largest part that the shortest waves have held
    so far, answer to rehearsal.
    """
    points = answer.problem.domain.interior(2048, seed=987_654_321).x
    count = len(answer.times)
    indices = np.union1d(np.arange(0, count, CHECKED), [count - 1])
    times = answer.times[indices]
    ours, theirs = answer.at_times(points, times), rehearsal.at_times(points, times)
    size = np.linalg.norm(ours.reshape(len(times), -1), axis=1)
    apart = np.linalg.norm((ours - theirs).reshape(len(times), -1), axis=1)
    found = apart / np.where(size > 0, size, 1.0)
    left = np.searchsorted(indices, np.arange(count), side="right") - 1
    right = np.searchsorted(indices, np.arange(count))
    held = [
        np.maximum.accumulate([record.measured["spectrum_tail"] for record in solution.history])
        for solution in (answer, rehearsal)
    ]
    ratio = held[0] / np.maximum(held[1], 1e-300)
    return np.maximum(found[left], found[right]) * np.clip(ratio, LEAST_GAIN, 1.0)
