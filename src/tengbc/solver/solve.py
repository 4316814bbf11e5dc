"""solve(): a problem in, a solution out."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tengbc.errors import UsageError
from tengbc.options import Options, options
from tengbc.problem import Problem
from tengbc.projection import Collocation, Fit
from tengbc.schemes import State
from tengbc.solver.compile_clock import compile_clock
from tengbc.solver.march import Callback, march
from tengbc.solver.measure import TIMES, Truth
from tengbc.solver.paper import plan_paper
from tengbc.solver.plan import Report
from tengbc.solver.record import Record
from tengbc.solver.solution import Solution

MOST_STATES = 1000
"""Steps whose parameters are all kept; of a longer march every k-th is."""


def solve(
    problem: Problem,
    t_end: float | None = None,
    *,
    throw: bool = True,
    callbacks: Sequence[Callback] = (),
    report: Report = lambda phase, fraction, known: None,
    **choices,
) -> Solution:
    """Solve a time-dependent problem from 0 to `t_end`.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `throw`: raise if the run fails; otherwise look at `solution.result`.
    - `callbacks`: functions of (record, state), called after each step; True stops the march.
    - `report`: progress, a function of (phase, fraction, known).
    - any option of `tengbc.options.Options`, such as `preset`, `scheme`, `dt`, `seed`.
    """
    checked = options(**choices, t_end=t_end if t_end is not None else problem.t_end)
    if checked.t_end is None:
        raise UsageError("t_end is missing and the problem has none of its own; pass t_end=….")
    began, compiled = time.perf_counter(), compile_clock.seconds
    plan = plan_paper(problem, checked, checked.t_end, report)
    fitted, compiled_fit = time.perf_counter(), compile_clock.seconds
    observer = _Observer(problem, plan.collocation, plan.clock.steps, report)
    marched = march(
        plan.space,
        plan.scheme,
        plan.clock,
        plan.start,
        checked.seed,
        observer,
        callbacks,
        keep_every=_keep_every(plan.clock.steps),
    )
    ended, compiled_march = time.perf_counter(), compile_clock.seconds
    solution = Solution(
        problem,
        plan.collocation.parameters,
        np.array(marched.times),
        np.array(marched.thetas),
        marched.result,
        marched.history,
        np.full(len(marched.times), np.nan),
        {
            "compile": compiled_march - compiled,
            "initial_fit": fitted - began - (compiled_fit - compiled),
            "march": ended - fitted - (compiled_march - compiled_fit),
        },
        _facts(checked, plan),
    )
    error = marched.result.error()
    if throw and error is not None:
        error.solution = solution  # type: ignore[attr-defined]
        raise error
    return solution


def _keep_every(steps: int) -> int:
    """Keep all states of a short march, else about TIMES of them at equal distances."""
    return 1 if steps <= MOST_STATES else max(1, steps // TIMES)


def _facts(checked: Options, plan) -> dict[str, object]:
    return {
        "preset": checked.preset,
        "scheme": plan.scheme.name,
        "dt": plan.clock.dt,
        "t_end": plan.clock.end,
        "steps": plan.clock.steps,
        "seed": checked.seed,
        "parameters": len(plan.collocation.parameters),
        "interior_points": len(plan.collocation.interior),
        "boundary_points": sum(len(points) for points in plan.collocation.boundary),
    }


class _Observer:
    """Turns a state into a record, and reports progress."""

    def __init__(self, problem: Problem, collocation: Collocation, steps: int, report: Report):
        self.collocation, self.steps, self.report = collocation, steps, report
        self.truth = Truth(problem)

    def __call__(self, step: int, t: float, state: State, fits: list[Fit]) -> Record:
        last = fits[-1]
        residuals = self.collocation.boundary_residual(state.theta, t)
        boundary = {
            points.segment: float(np.sqrt(np.mean(np.square(g))))
            for points, g in zip(self.collocation.boundary, residuals, strict=True)
        }
        record = Record(step, t, last.misfit, last.rank, last.condition, boundary)
        self.report("march", step / self.steps, {"step": step, "time": t, "residual": last.misfit})
        return record
