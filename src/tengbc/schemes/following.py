"""A one-step scheme on features that follow the solution, with shorter steps where it needs them.

While a front forms, its own time is much shorter than before and after. A step whose stages do not
converge is taken as two of half the length.
"""

from __future__ import annotations

from dataclasses import dataclass

from tengbc.errors import DivergedError
from tengbc.projection import Fit
from tengbc.projection.following import FollowingSpace
from tengbc.schemes.radau import RadauIIA
from tengbc.schemes.state import State

HALVINGS = 4
"""How often in a row a step may be halved before the march is given up."""


@dataclass(frozen=True)
class Following:
    """Look whether the features still suit the solution, then step."""

    scheme: RadauIIA

    @property
    def name(self) -> str:
        """The scheme's name: the orders are the same."""
        return self.scheme.name

    @property
    def order(self) -> int:
        """The scheme's order."""
        return self.scheme.order

    def step(
        self, space: FollowingSpace, state: State, t: float, dt: float, key: tuple[int, ...]
    ) -> tuple[State, list[Fit]]:
        """From u(t) to u(t + Δt)."""
        return self._step(space, state, t, dt, key, HALVINGS)

    def _step(
        self, space: FollowingSpace, state: State, t: float, dt: float, key, halvings: int
    ) -> tuple[State, list[Fit]]:
        start = State(space.follow(state.theta, t))
        try:
            return self.scheme.step(space, start, t, dt, key)
        except DivergedError:
            if not halvings:
                raise
        middle, first = self._step(space, start, t, dt / 2, key, halvings - 1)
        end, second = self._step(space, middle, t + dt / 2, dt / 2, key, halvings - 1)
        return end, first + second
