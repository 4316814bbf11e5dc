"""best_fem(): what finite elements can do in a given time, found as a careful user would.

Each mesh is run with the scheme and the number of steps that its space error calls for and the time
allows, first where the least error is expected, then finer and coarser while that helps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.fem.clock import BudgetError
from tengbc.evidence.baselines.fem.forecast import FEWEST_STEPS, Model, pilot
from tengbc.evidence.baselines.fem.physics import physics
from tengbc.evidence.baselines.fem.trials import FemTrial, Runner
from tengbc.problem import Problem

Array = np.ndarray
LADDER = (4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)


@dataclass(eq=False)
class FemSweep:
    """All runs of a sweep that stayed within its time."""

    seconds: int | float
    trials: list[FemTrial] = field(default_factory=list)

    @property
    def best(self) -> FemTrial:
        """The most accurate run."""
        if not self.trials:
            raise BudgetError(
                f"No finite-element run fits into {self.seconds:.2g} s; allow more seconds."
            )
        return min(self.trials, key=lambda trial: trial.error)


def best_fem(
    problem: Problem,
    t_end: int | float,
    seconds: int | float,
    points: Float[Array, "n 2"],
    times: Float[Array, " k"],
    truth: Float[Array, "k n"],
) -> FemTrial:
    """The most accurate finite-element run that takes no more than `seconds`.

    Mesh, assembly, factorisation and march count; compilation and evaluation do not. The error is
    the largest over `times` of ‖u − truth‖/‖truth‖ at the points, truth[i] belonging to times[i].
    """
    return sweep_fem(problem, t_end, seconds, points, times, truth).best


def sweep_fem(
    problem: Problem,
    t_end: int | float,
    seconds: int | float,
    points: Float[Array, "n 2"],
    times: Float[Array, " k"],
    truth: Float[Array, "k n"],
) -> FemSweep:
    """All runs made in search of the best one, for a plot of error against seconds."""
    run = Runner(problem, t_end, points, times, truth)
    model = pilot(run, physics(problem).nonlinear)
    sweep = FemSweep(seconds)

    def improves(index: int) -> bool:
        known = min((trial.error for trial in sweep.trials), default=np.inf)
        if model.preparation(LADDER[index]) <= seconds:
            sweep.trials += _trials(run, model, LADDER[index], seconds)
        return min((trial.error for trial in sweep.trials), default=np.inf) < known

    start = min(range(len(LADDER)), key=lambda i: model.plan(LADDER[i], seconds).error)
    improves(start)
    finer, coarser = start + 1, start - 1
    while finer < len(LADDER) and improves(finer):
        finer += 1
    # Coarser meshes are of use only if finer ones were not, or if nothing has fitted yet.
    if finer == start + 1:
        while coarser >= 0 and (improves(coarser) or not sweep.trials):
            coarser -= 1
    return sweep


def _trials(run: Runner, model: Model, resolution: int, seconds: int | float) -> list[FemTrial]:
    """Up to three runs: as planned, and again with what the first ones taught about the clock."""
    plan, done = model.plan(resolution, seconds), []
    for _ in range(3):
        try:
            trial, _ = run.run(resolution, plan.scheme, plan.steps, budget=seconds)
        except BudgetError as error:
            if error.phase != "march":
                break  # fewer steps would not help
            plan = plan._replace(steps=plan.steps // 2)
        except DivergedError:
            plan = plan._replace(steps=plan.steps * 2)
        else:
            done.append(trial)
            model.measured = trial
            again = model.plan(resolution, seconds)
            if again.error > 0.7 * plan.error:
                break
            plan = again
        if plan.steps < FEWEST_STEPS:
            break
    return done
