"""solve_fem(): a problem in, a finite-element solution out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, UsageError
from tengbc.evidence.baselines.fem.clock import Clock
from tengbc.evidence.baselines.fem.library import scikit_fem
from tengbc.evidence.baselines.fem.meshes import build_mesh
from tengbc.evidence.baselines.fem.outputs import Outputs
from tengbc.evidence.baselines.fem.physics import physics
from tengbc.evidence.baselines.fem.schemes import choose_scheme
from tengbc.evidence.baselines.fem.solution import FemSolution
from tengbc.evidence.baselines.fem.stepper import Stepper
from tengbc.evidence.baselines.fem.system import System
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem

Array = np.ndarray
Report = Callable[[str, float, dict], object]
"""Progress: phase, fraction done, what is known so far; True asks to stop there."""


def solve_fem(
    problem: Problem,
    t_end: int | float | None = None,
    *,
    resolution: int = 64,
    dt: int | float = 1e-3,
    times: Float[Array, " k"] | Sequence[int | float] | None = None,
    scheme: str | None = None,
    budget: int | float | None = None,
    report: Report = lambda phase, fraction, known: None,
) -> FemSolution:
    """Solve a problem in the plane with quadratic finite elements and second-order time steps.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `resolution`: cells across the domain. The paper's is 256.
    - `dt`: the largest time step; steps are equal and land on `t_end`. The paper's is 1e-4.
    - `times`: at which the solution is stored, by default 101 equispaced ones.
    - `scheme`: "tr-bdf2" (default, L-stable), "crank-nicolson" or "ark4" (order four); nonlinear
      problems take "ars222" (default) or "ark4", both of which treat self-advection and reactions
      explicitly, so that Δt must resolve them.
    - `budget`: seconds after which it gives up, as soon as that can be foreseen.
    - `report`: progress, a function of (phase, fraction, known); True stops the march there.
    """
    scikit_fem()
    end = t_end if t_end is not None else problem.t_end
    if end is None:
        raise UsageError("t_end is missing and the problem has none of its own; pass t_end=….")
    for name, value in (("t_end", end), ("dt", dt)):
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    stored = _checked_times(np.linspace(0.0, end, 101) if times is None else times, end)
    found = physics(problem)
    method = choose_scheme(scheme, found.nonlinear)
    clock = Clock(budget)

    report("mesh", 0.0, {})
    mesh = build_mesh(problem.domain, resolution)
    clock.lap("mesh")

    report("assemble", 0.0, {"unknowns": mesh.unknowns})
    steps = math.ceil(end / dt * (1 - 1e-12))
    step_times = np.linspace(0.0, end, steps + 1)
    step_size = end / steps
    stage_times = step_times[:-1, None] + method.nodes * step_size
    stage_times[:, -1] = step_times[1:]  # not a rounding away from where the next step begins
    system = System(problem, mesh, found, np.unique(stage_times))
    u = problem.initial(mesh.nodes).copy()
    system.prescribe(u, 0.0)
    clock.lap("assemble")

    report("factorise", 0.0, {})
    stepper = Stepper(system, method, step_size)
    clock.lap("factorise")

    outputs = Outputs(stored, mesh.unknowns)
    outputs.take(0.0, u)
    size = max(float(np.abs(u).max()), 1.0)
    result = Result(Outcome.DONE)
    for n in range(steps):
        u = stepper.step(u, stage_times[n])
        t = float(step_times[n + 1])
        if not np.abs(u).max() <= 1e6 * size:
            raise DivergedError(
                f"The finite-element march left every bound at t = {t:g}; take a smaller dt."
            )
        asked = report("march", (n + 1) / steps, {"step": n + 1, "time": t}) and n + 1 < steps
        outputs.take(t, u, last=n == steps - 1 or bool(asked))
        if asked:
            result = Result(Outcome.INTERRUPTED, f"stopped on request at t = {t:.6g} of {end:g}.")
            break
        clock.check(n + 1, steps)
    clock.lap("march")
    stored, values = outputs.taken
    return FemSolution(
        problem,
        mesh,
        stored,
        values,
        clock.seconds,
        {
            "solver": "fem",
            "preset": "fem",
            "resolution": resolution,
            "unknowns": mesh.unknowns,
            "parameters": mesh.unknowns,
            "scheme": method.name,
            "dt": step_size,
            "steps": steps,
            "t_end": float(end),
        },
        result,
    )


def _checked_times(
    times: Float[Array, " k"] | Sequence[int | float], end: int | float
) -> Float[Array, " k"]:
    stored = np.array(times, dtype=np.float64).ravel()
    ascending = len(stored) > 0 and bool(np.all(np.diff(stored) > 0))
    if not ascending or stored[0] < 0 or stored[-1] > end * (1 + 1e-12):
        raise UsageError(
            f"times must ascend from 0 or later to t_end = {end:g} at most; correct them."
        )
    return np.minimum(stored, end)
