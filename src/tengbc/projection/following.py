"""Features and points that follow a solution along a line.

On an interval the features are waves of ξ(x), coordinates that crowd where the solution is steep.
When it has become steeper, or has moved on, features and points are placed anew and u is fitted on
them once: θ changes, u does not.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Float

from tengbc.geometry.points import BoundaryPoints
from tengbc.networks import DenseLayers, Parameters
from tengbc.networks.crowded_waves import CrowdedWaves
from tengbc.networks.crowding import Crowding, crowded_points, crowding_for, lengths
from tengbc.problem import Problem
from tengbc.projection.collocation import check_finite
from tengbc.projection.linear import LinearSpace

Array = np.ndarray
SHORTER = 1.2
"""Features are placed anew when lengths have become this much shorter somewhere."""
LONGER = 2.0
"""… or this much longer."""
LOOKS = 4
"""How often the initial values are looked at, each time with points where the last look says."""
FIRST_POINTS = 2000
"""Points of each look."""


def initial_crowding(problem: Problem) -> Crowding:
    """The crowd that suits the initial values."""
    lower, upper = problem.domain.bounds
    start, end = float(lower[0]), float(upper[0])
    x = np.linspace(start, end, FIRST_POINTS)
    for _ in range(LOOKS):
        values = np.asarray(problem.initial(x[:, None]), dtype=np.float64).reshape(len(x), -1)
        check_finite("The initial condition", values, x[:, None], 0.0, "correct it there")
        crowding = crowding_for(x, lengths(x, values))
        x = np.concatenate([[start], crowded_points(crowding, start, end, FIRST_POINTS)[0], [end]])
    return crowding


class FollowingSpace(LinearSpace):
    """A linear space whose features and points are placed anew as the solution moves."""

    def __init__(
        self,
        problem: Problem,
        waves: CrowdedWaves,
        points: int,
        boundary: Sequence[BoundaryPoints],
        damping: float,
    ):
        crowding = initial_crowding(problem)
        self.waves, self._lengths = waves, np.zeros(0)
        super().__init__(
            problem,
            waves.network(crowding),
            waves.points(crowding, points),
            boundary,
            damping,
        )
        network = self.collocation.parameters.network
        self._along = jax.jit(jax.vmap(lambda theta, x: network(theta)(x), in_axes=(None, 0)))

    def follow(self, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        """θ of the same function, on other features if those at hand no longer suit it."""
        x = self._line()
        found = lengths(x, self._values_along(theta, x))
        if not len(self._lengths):
            self._lengths = found
        if (self._lengths <= SHORTER * found).all() and (found <= LONGER * self._lengths).all():
            return theta
        self._place(crowding_for(x, found))
        there = self._line()
        self._lengths = np.interp(there, x, found)
        target = self._values_along(theta, there)[1:-1]
        empty = np.zeros(self.unknowns)
        self.linearise(t, empty)
        return self.project(self.theta(empty), target, t).theta

    def _line(self) -> Float[Array, " n"]:
        """All points of the interval, its ends included."""
        start, end = self.waves.ends
        return np.concatenate([[start], self.collocation.interior.x[:, 0], [end]])

    def _place(self, crowding: Crowding) -> None:
        parameters = Parameters(self.waves.network(crowding))
        self.body = parameters.start[: parameters.head.start].copy()
        self.collocation.move(self.waves.points(crowding, len(self.collocation.interior)))
        if self.jets is not None:
            self.jets.place(parameters.start, self.collocation.interior.x)

    def _values_along(
        self, theta: Float[Array, " p"], x: Float[Array, " n"]
    ) -> Float[Array, "n m"]:
        """u_θ on the line, whatever features θ has."""
        with jax.enable_x64(True):
            return np.asarray(self._along(theta, x[:, None])).reshape(len(x), -1)

    def memory(self) -> dict[str, Array]:
        """Where features and points are, and where the matrices were taken."""
        return super().memory() | {"body": self.body, "lengths": self._lengths}

    def remember(self, memory: dict[str, Array]) -> None:
        """Take features, points and matrices as they were then."""
        theta = np.concatenate([memory["body"], memory["head"]])
        body = self.collocation.parameters.network(theta).body
        assert isinstance(body, DenseLayers) and isinstance(body.embedding, Crowding)
        self._place(Crowding(np.asarray(body.embedding.centre), np.asarray(body.embedding.spread)))
        self._lengths = memory["lengths"]
        self.linearise(float(memory["time"][0]), memory["head"])
