"""Finite elements: for a part of the time and for all of it, the best mesh and steps in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.fem.clock import BudgetError
from tengbc.evidence.baselines.fem.forecast import FEWEST_STEPS, Model, pilot
from tengbc.evidence.baselines.fem.physics import physics
from tengbc.evidence.baselines.fem.sweep import LADDER
from tengbc.evidence.baselines.fem.trials import FemTrial, Runner
from tengbc.evidence.comparison.trial import Trial, Watch
from tengbc.problem import Problem
from tengbc.solver.measure import Truth
from tengbc.solver.plan import Report

SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)


def trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Report
) -> Iterator[Trial]:
    """A run for each share of the seconds, planned from pilot runs as `best_fem` does.

    The pilots, on coarse meshes, are a user's experience and do not count.
    """
    report("fem pilot", 0.0, {})
    times = truth.times(end)
    values = np.stack([truth.values(t) for t in times])
    run = Runner(problem, end, truth.points, times, values)
    model = pilot(run, physics(problem).nonlinear)
    for share in SHARES:
        report("fem", share, {})
        watch = Watch(seconds)
        found = _best(run, model, share * seconds)
        if found is None:
            continue
        trial, solved = found
        model.measured = trial
        errors = truth.errors(lambda x, t, solved=solved: solved, end)
        assert errors is not None
        yield Trial(
            f"resolution {trial.resolution}, {trial.scheme}, {trial.steps} steps",
            trial.seconds,
            watch.compiling,
            trial.unknowns,
            errors,
            end,
        )


def _best(run: Runner, model: Model, seconds: float) -> tuple[FemTrial, np.ndarray] | None:
    """The run that promises the least error in the seconds; fewer steps if it does not fit."""
    resolution = min(LADDER, key=lambda each: model.plan(each, seconds).error)
    plan = model.plan(resolution, seconds)
    for _ in range(3):
        if not np.isfinite(plan.error) or plan.steps < FEWEST_STEPS:
            return None
        try:
            return run.run(resolution, plan.scheme, plan.steps, budget=seconds)
        except BudgetError:
            resolution = max(LADDER[0], LADDER[LADDER.index(resolution) - 1])
            plan = model.plan(resolution, 0.8 * seconds)
        except DivergedError:
            plan = plan._replace(steps=2 * plan.steps)
    return None
