"""Explicit Runge–Kutta: each stage's target is fitted by the projection, boundary included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from tengbc.errors import UsageError
from tengbc.projection import Fit
from tengbc.schemes.base import AbstractScheme, Key, StageData, Step
from tengbc.schemes.tableau import Tableau
from tengbc.spaces.interface import AbstractSpace, State
from tengbc.spaces.network import NetworkSpace
from tengbc.spaces.stage_boundary import StageFormula


@dataclass(frozen=True)
class RungeKutta(AbstractScheme):
    """One step of an explicit tableau, one projection per stage.

    Each fit starts from the stage before it, which is closer to the target than the beginning of
    the step. The end of the step always meets the conditions of its own time, g(u) = 0 at t + Δt.
    `stage_data` says what the stages before it ask on the boundary:

    - "time": g(Uᵢ) = 0 at the stage's own time t + cᵢΔt, as in the paper. Largest stable Δt.
    - "consistent": g(Uᵢ) = g(u + Δt Σⱼ aᵢⱼ L(Uⱼ)), what the stage's formula gives. Full order even
      where Δt is no longer small for the finest scales of the space (docs/boundary-stages.md).
    - "values": "consistent" where the condition prescribes u itself, "time" where derivatives of u
      enter. The formula contains L(u); a further derivative of it is too uncertain in a network.
    """

    tableau: Tableau
    stage_data: StageData = "time"
    explicit = True
    one_step = True

    def __post_init__(self):
        if self.stage_data not in get_args(StageData):
            raise UsageError(
                f"stage_data is {self.stage_data!r}, but it is 'time', 'consistent' or 'values'."
            )
        if np.triu(self.tableau.a).any():
            raise UsageError(
                f"The tableau {self.tableau.name} is implicit, a stage needing itself or a later "
                f"one, but only explicit ones are stepped here; take an implicit scheme."
            )

    @property
    def order(self) -> int:
        """Order of convergence in Δt."""
        return self.tableau.order

    @property
    def name(self) -> str:
        """The tableau's name."""
        return self.tableau.name

    @property
    def fits_per_step(self) -> int:
        """One for each stage."""
        return self.tableau.stages

    def with_stage_data(self, stage_data: StageData) -> RungeKutta:
        return replace(self, stage_data=stage_data)

    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        if self.stage_data != "time" and not isinstance(space, NetworkSpace):
            raise UsageError(
                f"{type(space).__name__} cannot evaluate a stage's formula on the boundary; take "
                f"stage_data='time'."
            )
        return lambda state, t, key=(): self._step(space, state, t, dt, key)

    def _step(
        self, space: AbstractSpace, state: State, t: float, dt: float, key: Key
    ) -> tuple[State, list[Fit]]:
        a, b, c = self.tableau.a, self.tableau.b, self.tableau.c
        u = space.values(state.theta)
        thetas, rates, fits = [state.theta], [space.rates(state.theta, t)], []
        targets = [*zip(a[1:], c[1:], strict=True), (b, 1.0)]
        last = len(targets) - 1
        for stage, (weights, time) in enumerate(targets):
            increments = (w * k for w, k in zip(weights, rates, strict=False) if w)
            target, then = u + dt * sum(increments), t + time * dt
            there = space
            if stage < last and self.stage_data != "time":
                assert isinstance(space, NetworkSpace)
                formula = self._formula(thetas, weights, t, dt)
                there = space.at_stage(formula, then, self.stage_data == "values")
            first = stage == 0 and last > 0
            fit = there.project(thetas[-1], target, then, (*key, stage), first=first)
            fits.append(fit)
            thetas.append(fit.theta)
            if stage < last:
                rates.append(space.rates(fit.theta, then))
        return State(thetas[-1]), fits

    def _formula(self, thetas, weights, t: float, dt: float) -> StageFormula:
        """u + Δt Σⱼ aᵢⱼ L(Uⱼ) as a field, of the stages that take part in it."""
        used = [j for j, w in enumerate(weights) if w] or [0]
        return StageFormula(
            theta=thetas[0],
            stages=np.stack([thetas[j] for j in used]),
            weights=np.array([dt * weights[j] for j in used]),
            times=np.array([t + dt * self.tableau.c[j] for j in used]),
        )
