"""solve_hpfem(): a problem in, a solution by finite elements of high order out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Float

from tengbc.evidence.baselines.hpfem.march import RadauMarch, time_grid
from tengbc.evidence.baselines.hpfem.mesh import build_mesh
from tengbc.evidence.baselines.hpfem.places import places
from tengbc.evidence.baselines.hpfem.symbolic import ngsolve
from tengbc.evidence.baselines.hpfem.weak_form import HpSystem
from tengbc.evidence.baselines.solution import (
    AbstractBaselineSolution,
    Times,
    final_time,
    stored_times,
)
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.timing import Stopwatch
from tengbc.types import Progress

Array = np.ndarray


@dataclass(frozen=True)
class HpSettings:
    """How finely to solve.

    **Arguments:**

    - `size`: the largest element, in units of the domain's longer side.
    - `order`: of the polynomials, on curved elements.
    - `step`: the longest time step, in units of t_end; `stages` of Radau IIA, of order 2s − 1.
    - `corner_levels`: geometric layers of elements around singular points and along `layers`.
    - `interfaces`: circles inside that no element is to cross, since data jump there.
    - `start_levels`: geometric layers of shorter steps at the start, `start_steps` in each.
    """

    size: float = 0.2
    order: int = 4
    step: float = 0.05
    stages: int = 3
    corner_levels: int = 0
    layers: tuple[str, ...] = ()
    interfaces: tuple[Disk, ...] = ()
    start_levels: int = 0
    start_steps: int = 1

    def __str__(self) -> str:
        text = f"size {self.size:g}, order {self.order}, steps {self.step:g}, {self.stages} stages"
        if self.corner_levels:
            text += f", {self.corner_levels} layers"
        return text + (f", {self.start_levels} at the start" if self.start_levels else "")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HpSolution(AbstractBaselineSolution):
    """u(x, t) at the stored `times`, with the `coefficients` (k, unknowns) of the elements."""

    method: ClassVar[str] = "high-order finite-element"
    system: HpSystem
    coefficients: Float[Array, "k n"]

    @property
    def unknowns(self) -> int:
        """Degrees of freedom."""
        return self.system.unknowns

    def at_times(self, x: Float[Array, "n d"], times: Sequence[float] | Array) -> Array:
        """u at points x (n, d) and several stored times."""
        found = places(self.system.mesh, x)
        rows = [self.coefficients[self._index(float(t))] for t in times]
        return np.stack([self.system.values(row, found) for row in rows])


def solve_hpfem(
    problem: Problem,
    t_end: int | float | None = None,
    settings: HpSettings | None = None,
    *,
    times: Times | None = None,
    progress: Progress = lambda phase, fraction, known: None,
) -> HpSolution:
    """Solve with NGSolve: mesh, weak form, Radau steps; stored at `times`, 101 by default."""
    ngsolve()
    settings = settings or HpSettings()
    end = final_time(problem, t_end)
    stored, watch = stored_times(times, end), Stopwatch()
    lower, upper = problem.domain.bounds
    size = settings.size * float((upper - lower).max())
    progress("mesh", 0.0, {})
    graded = (settings.corner_levels, settings.layers, settings.interfaces)
    mesh = build_mesh(problem, size, settings.order, *graded)
    progress("assemble", 0.0, {})
    system = HpSystem(problem, mesh, settings.order)
    legs = time_grid(stored, settings.step * end, settings.start_levels, settings.start_steps)
    preparing, compiling = watch.lap()
    march = RadauMarch(system, settings.stages)
    initial = system.initial()
    kept: list[Any] = [march.settled(initial[system.free])] if stored[0] == 0.0 else []
    for t, u in march.states(legs, initial):
        if len(kept) < len(stored) and abs(t - stored[len(kept)]) < 1e-9 * end:
            kept.append(u)
        progress("march", t / end, {"time": t})
    marching, late = watch.lap()
    facts = {"solver": "hp-fem", "unknowns": system.unknowns, "t_end": end, "order": settings.order}
    return HpSolution(
        problem=problem,
        times=stored,
        seconds={"prepare": preparing, "march": marching, "compile": compiling + late},
        facts=facts,
        system=system,
        coefficients=np.stack(kept),
    )
