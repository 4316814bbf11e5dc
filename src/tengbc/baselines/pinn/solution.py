"""The solution of a space–time network: one θ for all times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import jax
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.baselines.pinn.network import Builder
from tengbc.errors import OutsideError
from tengbc.geometry.points import outside_error
from tengbc.outcome import Outcome, Result
from tengbc.pointwise import as_points
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Where training stood after some steps and seconds."""

    step: int
    seconds: float
    loss: float
    theta: Float[Array, " p"]


@dataclass(frozen=True, eq=False)
class PinnSolution:
    """u_θ(x, t) for 0 ≤ t ≤ T; `snapshots` tell how training went, the last one is the result."""

    problem: Problem
    network: Builder
    t_end: float
    snapshots: Sequence[Snapshot]
    result: Result = field(default_factory=lambda: Result(Outcome.DONE))
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)

    @cached_property
    def _at_points(self):
        """u_θ at many points and one time, compiled once."""
        network = self.network

        def at_points(theta, x, t):
            return jax.vmap(network(theta), in_axes=(0, None))(x, t)

        return jax.jit(at_points)

    @property
    def times(self) -> Float[Array, " 2"]:
        """The first and the last time."""
        return np.array([0.0, self.t_end])

    @property
    def unknowns(self) -> int:
        """The number of parameters."""
        return len(self.snapshots[-1].theta)

    def at(self, snapshot: Snapshot) -> PinnSolution:
        """The solution as it was at a snapshot."""
        return replace(self, snapshots=[snapshot])

    def __call__(self, x: ArrayLike, t: float) -> Float[Array, "..."]:
        """u at points x, one (d,) or many (n, d), at time t."""
        points = as_points(x, self.problem.domain.dim)
        result = self.at_times(np.atleast_2d(points), [t])[0]
        return result if points.ndim == 2 else result[0]

    def at_times(self, x: Float[Array, "n d"], times: Sequence[float] | Array) -> Array:
        """u at points x (n, d) and several times."""
        inside = self.problem.domain.contains(x)
        if not inside.all():
            raise outside_error(x, inside)
        if not all(-1e-12 <= t / self.t_end <= 1 + 1e-12 for t in times):
            raise OutsideError(
                f"The solution is known for 0 ≤ t ≤ {self.t_end:g}, but other times were asked "
                f"for; solve to a later t_end."
            )
        theta = self.snapshots[-1].theta
        with jax.enable_x64(True):
            found = [np.asarray(self._at_points(theta, x, float(t))) for t in times]
        return np.stack(found)
