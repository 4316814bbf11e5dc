"""solve_pinn(): a problem in, a trained space–time network out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, final

import jax
import numpy as np
from jaxtyping import Float

from tengbc.errors import OutsideError, UsageError
from tengbc.evidence.baselines.pinn.network import Builder, space_time_network
from tengbc.evidence.baselines.pinn.optimisers import Bfgs, Engd
from tengbc.evidence.baselines.pinn.rows import PointCounts, Rows
from tengbc.evidence.baselines.solution import AbstractBaselineSolution, final_time
from tengbc.networks import Parameters
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.timing import Stopwatch
from tengbc.types import Progress

Array = np.ndarray
OPTIMISERS = {"bfgs": Bfgs, "engd": Engd}
BOUNDARY_WEIGHT = 100.0
"""The weight of squared initial and boundary rows, per weight of those of the equation."""


@dataclass(frozen=True, eq=False)
class TrainingSnapshot:
    """Where training stood after some steps and seconds."""

    step: int
    seconds: float
    loss: float
    theta: Float[Array, " p"]


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class PinnSolution(AbstractBaselineSolution):
    """u_θ(x, t), one θ for all times between the two that are stored, the first and the last.

    `snapshots` tell how training went; the last one is the result.
    """

    method: ClassVar[str] = "network"
    network: Builder
    snapshots: Sequence[TrainingSnapshot]

    @cached_property
    def _at_points(self):
        """u_θ at many points and one time, compiled once."""
        network = self.network
        return jax.jit(lambda theta, x, t: jax.vmap(network(theta), in_axes=(0, None))(x, t))

    @property
    def unknowns(self) -> int:
        """The number of parameters."""
        return len(self.snapshots[-1].theta)

    def at(self, snapshot: TrainingSnapshot) -> PinnSolution:
        """The solution as it was at a snapshot."""
        return replace(self, snapshots=[snapshot])

    def at_times(self, x: Float[Array, "n d"], times: Sequence[float] | Array) -> Array:
        """u at points x (n, d) and several times."""
        self._check_inside(x)
        end = self.times[-1]
        if not all(-1e-12 <= t / end <= 1 + 1e-12 for t in times):
            raise OutsideError(
                f"The solution is known for 0 ≤ t ≤ {end:g}, but other times were asked for; "
                f"solve to a later t_end."
            )
        theta = self.snapshots[-1].theta
        with jax.enable_x64(True):
            return np.stack([np.asarray(self._at_points(theta, x, float(t))) for t in times])


def solve_pinn(
    problem: Problem,
    t_end: int | float | None = None,
    *,
    optimiser: str = "bfgs",
    seconds: float | None = None,
    steps: int | None = None,
    points: PointCounts | Sequence[int] | None = None,
    widths: Sequence[int] = (32, 32),
    seed: int = 0,
    boundary_weight: float = BOUNDARY_WEIGHT,
    snapshots: Sequence[float] = (),
    progress: Progress = lambda phase, fraction, known: None,
) -> PinnSolution:
    """Train a network u_θ(x, t) to make equation, initial values and conditions hold on points.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `optimiser`: "bfgs" (self-scaled Broyden) or "engd" (energy natural gradient).
    - `seconds`: wall clock, compilation apart; 60 unless `steps` is given. `steps`: how many at
      most. The paper's are 100,000.
    - `points`: collocation points inside, at the start and on the boundary; the paper's are
      100,000, 15,000 and 10,000. `widths`: hidden layers. `seed`: of points and weights.
    - `snapshots`: seconds after which the state of training is kept as well.
    - `progress`: a function of (phase, fraction, known); True stops the training there.
    """
    end = final_time(problem, t_end)
    if optimiser not in OPTIMISERS:
        raise UsageError(
            f"optimiser is {optimiser!r}, but it is one of {', '.join(OPTIMISERS)}; choose one."
        )
    seconds = 60.0 if seconds is None and steps is None else seconds
    watch = Stopwatch()
    progress("prepare", 0.0, {})
    network = space_time_network(problem.domain, end, problem.components, widths, seed)
    parameters = Parameters(network)
    build: Builder = parameters.network
    counts = points if isinstance(points, PointCounts) else PointCounts(*(points or ()))
    rows = Rows(problem, build, end, counts, seed, boundary_weight)
    training = OPTIMISERS[optimiser](rows, parameters.start)
    kept, wanted, count = [], sorted(snapshots), 0
    result = Result(Outcome.DONE)
    while (steps is None or count < steps) and (seconds is None or watch.computing < seconds):
        if not training.step():
            result = Result(Outcome.DONE, f"no better parameters were found after {count} steps.")
            break
        count += 1
        while wanted and watch.computing >= wanted[0]:
            wanted.pop(0)
            kept.append(TrainingSnapshot(count, watch.computing, training.loss, training.theta))
        by_time = watch.computing / seconds if seconds else 0.0
        fraction = max(count / steps if steps else 0.0, by_time)
        if progress("train", min(fraction, 1.0), {"step": count, "loss": training.loss}):
            result = Result(Outcome.INTERRUPTED, f"stopped on request after {count} steps.")
            break
    kept.append(TrainingSnapshot(count, watch.computing, training.loss, training.theta))
    facts: dict[str, object] = {
        "preset": "pinn",
        "scheme": optimiser,
        "t_end": end,
        "steps": count,
        "seed": seed,
        "parameters": len(parameters),
        "widths": list(widths),
        **{f"{kind}_points": number for kind, number in rows.points.items()},
        "loss": training.loss,
    }
    return PinnSolution(
        problem=problem,
        times=np.array([0.0, end]),
        network=build,
        snapshots=kept,
        result=result,
        seconds={"train": watch.computing, "compile": watch.compiling},
        facts=facts,
    )
