"""solve_pinn(): a problem in, a trained space–time network out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tengbc.errors import UsageError
from tengbc.evidence.baselines.pinn.bfgs import Bfgs
from tengbc.evidence.baselines.pinn.engd import Engd
from tengbc.evidence.baselines.pinn.network import flattened, space_time_network
from tengbc.evidence.baselines.pinn.rows import PointCounts, Rows
from tengbc.evidence.baselines.pinn.solution import PinnSolution, Snapshot
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.solver.compile_clock import compile_clock

OPTIMISERS = {"bfgs": Bfgs, "engd": Engd}
BOUNDARY_WEIGHT = 100.0
"""Squares of initial and boundary rows count so much more than those of the equation."""
Report = Callable[[str, float, dict], object]
"""Progress: phase, fraction done, what is known so far; True asks to stop there."""


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
    report: Report = lambda phase, fraction, known: None,
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
    - `report`: progress, a function of (phase, fraction, known); True stops the training there.
    """
    end = t_end if t_end is not None else problem.t_end
    if end is None:
        raise UsageError("t_end is missing and the problem has none of its own; pass t_end=….")
    if optimiser not in OPTIMISERS:
        raise UsageError(
            f"optimiser is {optimiser!r}, but it is one of {', '.join(OPTIMISERS)}; choose one."
        )
    seconds = 60.0 if seconds is None and steps is None else seconds
    began, compiled = time.perf_counter(), compile_clock.seconds
    report("prepare", 0.0, {})
    network = space_time_network(problem.domain, float(end), problem.components, widths, seed)
    theta, build = flattened(network)
    counts = points if isinstance(points, PointCounts) else PointCounts(*(points or ()))
    rows = Rows(problem, build, float(end), counts, seed, boundary_weight)
    training = OPTIMISERS[optimiser](rows, theta)
    kept, wanted, count = [], sorted(snapshots), 0
    result = Result(Outcome.DONE)

    def passed() -> float:
        return time.perf_counter() - began - (compile_clock.seconds - compiled)

    while (steps is None or count < steps) and (seconds is None or passed() < seconds):
        if not training.step():
            result = Result(Outcome.DONE, f"no better parameters were found after {count} steps.")
            break
        count += 1
        while wanted and passed() >= wanted[0]:
            wanted.pop(0)
            kept.append(Snapshot(count, passed(), training.loss, training.theta))
        fraction = max(count / steps if steps else 0.0, passed() / seconds if seconds else 0.0)
        if report("train", min(fraction, 1.0), {"step": count, "loss": training.loss}):
            result = Result(Outcome.INTERRUPTED, f"stopped on request after {count} steps.")
            break
    kept.append(Snapshot(count, passed(), training.loss, training.theta))
    spent = {"train": passed(), "compile": compile_clock.seconds - compiled}
    facts = {
        "preset": "pinn",
        "scheme": optimiser,
        "t_end": float(end),
        "steps": count,
        "seed": seed,
        "parameters": len(theta),
        "widths": list(widths),
        "interior_points": rows.points["interior"],
        "initial_points": rows.points["initial"],
        "boundary_points": rows.points["boundary"],
        "loss": training.loss,
    }
    return PinnSolution(problem, build, float(end), kept, result, spent, facts)
