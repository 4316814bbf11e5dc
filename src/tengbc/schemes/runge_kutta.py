"""Explicit Runge–Kutta: each stage's target is fitted by the projection, boundary included."""

from __future__ import annotations

from dataclasses import dataclass

from tengbc.projection import Fit
from tengbc.schemes.space import Space
from tengbc.schemes.state import State
from tengbc.schemes.tableau import Tableau


@dataclass(frozen=True)
class RungeKutta:
    """One step of an explicit tableau, one projection per stage.

    The boundary rows of a stage are taken at that stage's own time t + cᵢΔt. Each fit starts from
    the stage before it, which is closer to the target than the beginning of the step.
    """

    tableau: Tableau

    @property
    def order(self) -> int:
        """Order of convergence in Δt."""
        return self.tableau.order

    @property
    def name(self) -> str:
        """The tableau's name."""
        return self.tableau.name

    def step(
        self, space: Space, state: State, t: float, dt: float, key: tuple[int, ...]
    ) -> tuple[State, list[Fit]]:
        """From u(t) to u(t + Δt); `key` is (seed, step)."""
        a, b, c, theta = self.tableau.a, self.tableau.b, self.tableau.c, state.theta
        u = space.values(theta)
        rates, fits = [space.rates(theta, t)], []
        targets = [*zip(a[1:], c[1:], strict=True), (b, 1.0)]
        for stage, (weights, time) in enumerate(targets):
            increments = (w * k for w, k in zip(weights, rates, strict=False) if w)
            target = u + dt * sum(increments)
            several = self.tableau.stages > 1
            fit = space.project(
                theta, target, t + time * dt, (*key, stage), first=several and stage == 0
            )
            theta = fit.theta
            fits.append(fit)
            if stage + 1 < len(targets):
                rates.append(space.rates(theta, t + time * dt))
        return State(theta), fits
