"""Waves of coordinates that crowd: features for fronts on a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.geometry import sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks.crowding import Crowding, crowded_points
from tengbc.networks.layers import Dense, DenseLayers
from tengbc.networks.network import Network, with_head

Array = np.ndarray


@dataclass(frozen=True)
class CrowdedWaves:
    """How many waves of ξ, and which."""

    domain: Domain
    count: int
    components: int
    seed: int

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval."""
        lower, upper = self.domain.bounds
        return float(lower[0]), float(upper[0])

    def network(self, crowding: Crowding) -> Network:
        """The features for one crowd."""
        low, high = crowding.at(np.array(self.ends))
        weight, bias = interval_waves(float(low), float(high), self.count, self.seed)
        return with_head(DenseLayers(crowding, (Dense(weight, bias),), "sin"), self.components)

    def points(self, crowding: Crowding, count: int) -> Points:
        """Points as crowded as the features."""
        x, w = crowded_points(crowding, *self.ends, count)
        return Points(x[:, None], w)


def interval_waves(
    start: float, end: float, count: int, seed: int = 0
) -> tuple[Float[Array, "n 1"], Float[Array, " n"]]:
    """Weights and biases of sines and cosines of an interval some 1.6 times as long.

    A Fourier extension: functions that do not fit into one period have room to bend back outside,
    and equal distances between the waves resolve most for their number. Smooth functions need fewer
    random waves than these, steep ones many more. The seed chooses the longer interval.
    """
    chance = float(sequences.low_discrepancy(1, 1, seed)[0, 0])
    unit = 2 * np.pi / ((1.5 + 0.2 * chance) * (end - start))
    pairs = -(-count // 2)
    weight = unit * np.repeat(np.arange(1, pairs + 1), 2)[:count]
    phase = np.tile([0.0, np.pi / 2], pairs)[:count]
    return weight[:, None], phase - weight * (start + end) / 2
