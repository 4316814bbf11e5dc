"""All parameters of a network, changed by a projection: the paper's space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from tengbc.projection import AnyCollocation, Collocation, Fit, Projection
from tengbc.projection.fit import fit_quantities
from tengbc.spaces.interface import AbstractSpace
from tengbc.spaces.stage_boundary import StageBoundary, StageFormula

Array = np.ndarray


@dataclass(frozen=True)
class NetworkSpace(AbstractSpace):
    """Networks of one architecture on the rows of a problem."""

    collocation: AnyCollocation
    projection: Projection

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return self.collocation.values(theta)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        return self.collocation.rates(theta, t)

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        return self.projection.fit(theta, self.collocation, target, t, key, first)

    def size(self, theta: Float[Array, " p"]) -> float:
        return self.collocation.inside_size(self.values(theta))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        segments = [points.segment for points in self.collocation.boundary]
        return fit_quantities(fits, segments, self.collocation.boundary_sizes(theta, t))

    def at_stage(self, formula: StageFormula, t: float, only_values: bool = False) -> NetworkSpace:
        """The same space, its boundary rows asking at time t for what the formula gives there.

        `only_values`: only those rows that prescribe u itself, not its derivatives.
        """
        asked = self._stage_boundary(formula, t, only_values)
        return replace(self, collocation=self._on_one_host.with_boundary_data(asked))

    @cached_property
    def _stage_boundary(self) -> StageBoundary:
        return StageBoundary(self._on_one_host)

    @property
    def _on_one_host(self) -> Collocation:
        assert isinstance(self.collocation, Collocation), "refused with several devices"
        return self.collocation
