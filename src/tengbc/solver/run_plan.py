"""From a plan to a solution: march, observe, keep."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tengbc.history import Record
from tengbc.journal import NO_STAGE, Snapshot, Stage
from tengbc.networks import Parameters
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.projection import Fit
from tengbc.schemes import State
from tengbc.solver.live_error import LiveError
from tengbc.solver.march import Callback, march
from tengbc.solver.marched import Marched
from tengbc.solver.measure import TIMES
from tengbc.solver.plan import Plan
from tengbc.solver.snapshots import march_snapshot, marched_from
from tengbc.solver.solution import Solution
from tengbc.timing import Stopwatch
from tengbc.types import Progress as Report

ALL_STATES, MOST_STATES = 1000, 4000
"""Steps whose parameters are all kept; of a longer march every k-th is, so many at most."""
MOST_NUMBERS = 4_000_000
"""Numbers in the states that are kept of a longer march, 32 MB."""


def run_plan(
    problem: Problem,
    plan: Plan,
    options: Options,
    report: Report,
    callbacks: Sequence[Callback] = (),
    stage: Stage = NO_STAGE,
) -> Solution:
    """March a plan to its end and keep what the solution needs."""
    watch = Stopwatch()
    if plan.failure is not None:
        marched = Marched(plan.failure, plan.start, [0.0], [plan.start.theta])
    else:
        marched = march(
            plan.space,
            plan.scheme,
            plan.clock,
            plan.start,
            options.seed,
            _Observer(problem, plan, report),
            callbacks,
            keep_every=_keep_every(plan),
            stage=stage,
        )
    computing, compiling = watch.lap()
    facts = {**_facts(options, plan), "march": stage.name}
    seconds = {"march": computing + stage.seconds_before, "compile": compiling}
    if marched.result:
        stage.finish(march_snapshot(marched, plan.space, {"facts": facts}, finished=True))
    return _solution(problem, plan.collocation.parameters, marched, facts, seconds)


def recalled(
    problem: Problem, parameters: Parameters, snapshot: Snapshot, stage: Stage
) -> Solution:
    """The solution of a march that an earlier session has finished."""
    marched = marched_from(snapshot)
    for record in marched.history:
        stage.note(record)
    seconds = {"march": stage.seconds_before}
    return _solution(problem, parameters, marched, dict(snapshot.facts["facts"]), seconds)


def _solution(
    problem: Problem, parameters: Parameters, marched: Marched, facts: dict, seconds: dict
) -> Solution:
    return Solution(
        problem,
        parameters,
        np.array(marched.times),
        np.array(marched.thetas),
        marched.result,
        marched.history,
        np.full(len(marched.times), np.nan),
        seconds,
        facts,
    )


def _keep_every(plan: Plan) -> int:
    """Keep all states of a short march; of a longer one as many as memory allows, TIMES at least.

    In between u is interpolated, so states that are far apart would cost digits. A march that
    checks another with half its steps keeps states between those that the other keeps.
    """
    parameters, steps = len(plan.start.theta), plan.clock.steps
    if plan.checks:
        steps //= 2
    if steps <= ALL_STATES:
        return 1
    return math.ceil(steps / max(TIMES, min(MOST_STATES, MOST_NUMBERS // parameters)))


def _facts(options: Options, plan: Plan) -> dict[str, object]:
    return {
        "preset": options.preset,
        "rtol": options.rtol,
        "scheme": plan.scheme.name,
        "dt": plan.clock.dt,
        "t_end": plan.clock.end,
        "steps": plan.clock.steps,
        "seed": options.seed,
        "parameters": len(plan.collocation.parameters),
        "interior_points": len(plan.collocation.interior),
        "boundary_points": sum(len(points) for points in plan.collocation.boundary),
    }


class _Observer:
    """Turns a state into a record, and reports progress, with the error where it is known."""

    def __init__(self, problem: Problem, plan: Plan, report: Report):
        self.space, self.steps, self.report = plan.space, plan.clock.steps, report
        self.segments = [points.segment for points in plan.collocation.boundary]
        self.live_error = LiveError(problem, plan.collocation.parameters, plan.clock.steps)

    def __call__(self, step: int, t: float, state: State, fits: list[Fit]) -> Record:
        last = fits[-1]
        boundary = {
            f"boundary_{segment}": float(np.sqrt(np.mean(np.square(residual))))
            for segment, residual in zip(
                self.segments, self.space.boundary_residual(state.theta, t), strict=True
            )
        }
        error = self.live_error(step, state, t)
        known = {"step": step, "time": t, "residual": last.misfit, **error}
        self.report("march", step / self.steps, known)
        return Record(
            step,
            t,
            {
                "fit_residual": last.misfit,
                "rank": last.rank,
                "condition": last.condition,
                "accepted": sum(fit.iterations for fit in fits),
                "rejected": sum(fit.rejected for fit in fits),
                **boundary,
            },
        )
