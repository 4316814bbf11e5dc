"""Adams–Bashforth: one projection per step, with rates remembered at the fixed points.

u⁺ = u + Δt Σⱼ bⱼ L(uₙ₋ⱼ), where Σ bⱼ fₙ₋ⱼ is the integral over the next step of the polynomial
through the last k rates. The first k − 1 steps are RK4's, which is at least of the same order.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.projection import Fit
from tengbc.schemes.base import AbstractScheme, Key, Step
from tengbc.schemes.runge_kutta import RungeKutta
from tengbc.schemes.tableau import RK4
from tengbc.spaces.interface import AbstractSpace, State

Array = np.ndarray


def adams_weights(order: int) -> Float[Array, " k"]:
    """bⱼ with Σⱼ bⱼ p(−j) = ∫₀¹ p for all polynomials p of degree below k; newest first."""
    powers = np.arange(order)
    nodes = -np.arange(order, dtype=float)
    return np.linalg.solve(np.vander(nodes, increasing=True).T, 1 / (powers + 1))


@dataclass(frozen=True)
class AdamsBashforth(AbstractScheme):
    """The explicit multistep scheme of the given order."""

    order: int
    explicit = True
    one_step = False

    def __post_init__(self):
        if not 2 <= self.order <= 4:
            raise UsageError(f"Adams–Bashforth is of order 2, 3 or 4 here, not {self.order}.")

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return f"ab{self.order}"

    @cached_property
    def _weights(self) -> Float[Array, " k"]:
        return adams_weights(self.order)

    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        start = RungeKutta(RK4).prepare(space, dt)

        def step(state: State, t: float, key: Key = ()) -> tuple[State, list[Fit]]:
            """The history holds the rates of the steps before."""
            rates = (space.rates(state.theta, t), *state.history)[: self.order]
            if len(rates) < self.order:
                started, fits = start(State(state.theta), t, key)
                return State(started.theta, rates), fits
            target = space.values(state.theta)
            target = target + dt * sum(b * k for b, k in zip(self._weights, rates, strict=True))
            fit = space.project(state.theta, target, t + dt, (*key, 0))
            return State(fit.theta, rates[: self.order - 1]), [fit]

        return step
