"""Features and points that follow a solution along an interval.

The features are waves of ξ(x), a graded coordinate that rises steeply where the solution is steep.
When it has become steeper, or has moved on, features and points are placed anew and u is fitted on
them once: θ changes, u does not.
"""

import jax
import numpy as np
from jaxtyping import Float

from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks import DenseLayers, GradedAxes, GradedAxis, Network, Parameters
from tengbc.networks.adapt import equispaced_points, graded_axis, lengths
from tengbc.networks.waves import graded_network
from tengbc.spaces.interface import Arrays
from tengbc.spaces.linear import LinearSpace

Array = np.ndarray
SHORTER = 1.2
"""Features are placed anew when lengths have become this much shorter somewhere."""
LONGER = 2.0
"""… or this much longer."""


class MovingPlacement:
    """Waves and points along an interval, placed by the lengths of the solution."""

    def __init__(self, domain: Domain, features: int, points: int, components: int, seed: int):
        self.domain, self.features, self.points = domain, features, points
        self.components, self.seed = components, seed
        lower, upper = domain.bounds
        self.ends = float(lower[0]), float(upper[0])
        self._lengths = np.zeros(0)

    def network(self, axis: GradedAxis) -> Network:
        """The features for one graded coordinate."""
        return graded_network(self.domain, axis, self.features, self.components, self.seed)

    def interior(self, axis: GradedAxis) -> Points:
        """The points for it, equispaced in ξ."""
        return equispaced_points(axis, *self.ends, self.points)

    def adapt(self, space: LinearSpace, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        """Look along the interval whether the features still suit the solution."""
        x = space.collocation.interior.x[:, 0]
        found = lengths(x, space.values(theta))
        if not len(self._lengths):
            self._lengths = found
        if (self._lengths <= SHORTER * found).all() and (found <= LONGER * self._lengths).all():
            return theta
        line = np.concatenate([self.ends[:1], x, self.ends[1:]])
        self._place(space, graded_axis(line, np.pad(found, 1, mode="edge")))
        there = space.collocation.interior.x
        self._lengths = np.interp(there[:, 0], x, found)
        with jax.enable_x64(True):
            before = space.collocation.parameters.network(theta)
        target = before.evaluate(there).reshape(len(there), -1)
        empty = np.zeros(space.unknowns)
        space.linearise(t, empty)
        return space.project(space.theta(empty), target, t).theta

    def memory(self) -> Arrays:
        return {"lengths": self._lengths}

    def remember(self, space: LinearSpace, memory: Arrays) -> None:
        body = space.collocation.parameters.network(
            np.concatenate([memory["body"], memory["head"]])
        ).body
        assert isinstance(body, DenseLayers) and isinstance(body.embedding, GradedAxes)
        (axis,) = body.embedding.axes
        self._place(space, GradedAxis(np.asarray(axis.centre), np.asarray(axis.spread)))
        self._lengths = memory["lengths"]

    def _place(self, space: LinearSpace, axis: GradedAxis) -> None:
        parameters = Parameters(self.network(axis))
        space.place(parameters.start[: parameters.head.start], self.interior(axis))
