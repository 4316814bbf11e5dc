"""What a scheme needs to know of the space its solution lives in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from tengbc.projection import Collocation, Fit, Projection
from tengbc.schemes.stage_boundary import StageBoundary, StageFormula

Array = np.ndarray


class Space(Protocol):
    """Functions u_θ known at fixed points, the equation there, and the way back to a θ."""

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        """u_θ at the points."""
        ...

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        """L(u_θ) at the points."""
        ...

    def boundary_residual(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "..."]]:
        """g(u_θ) on each boundary segment at time t."""
        ...

    def project(
        self,
        theta: Float[Array, " p"],
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
    ) -> Fit:
        """The θ whose function is the target inside and meets the conditions of time t."""
        ...


@runtime_checkable
class StageSpace(Space, Protocol):
    """A space that also knows what the formula of a stage gives on the boundary."""

    def at_stage(self, formula: StageFormula, t: float, only_values: bool = False) -> Space:
        """The same space, its boundary rows asking at time t for what the formula gives there.

        `only_values`: only those rows that prescribe u itself, not its derivatives.
        """
        ...


@dataclass(frozen=True)
class NetworkSpace:
    """All parameters of a network, changed by a projection."""

    collocation: Collocation
    projection: Projection

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return self.collocation.values(theta)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        return self.collocation.rates(theta, t)

    def boundary_residual(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "..."]]:
        return list(self.collocation.boundary_residual(theta, t))

    def project(self, theta, target, t, key, first=False) -> Fit:
        return self.projection.fit(theta, self.collocation, target, t, key, first)

    def at_stage(self, formula: StageFormula, t: float, only_values: bool = False) -> NetworkSpace:
        wanted = self._stage_boundary(formula, t, only_values)
        return replace(self, collocation=self.collocation.wanting(wanted))

    @cached_property
    def _stage_boundary(self) -> StageBoundary:
        return StageBoundary(self.collocation)
