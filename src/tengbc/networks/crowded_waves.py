"""Waves of coordinates that crowd: features for fronts on a line, and for peaks anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.geometry import sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks.crowding import CrowdedAxes, Crowding, crowded_points
from tengbc.networks.layers import Dense, DenseLayers
from tengbc.networks.network import Network, with_head
from tengbc.networks.random_features import lattice_waves

Array = np.ndarray
LINE = 4000
"""Places on an axis between which points are interpolated."""


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


def box_waves(
    domain: Domain, axes: CrowdedAxes, richness: Float[Array, " d"], count: int, seed: int
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """Weights and biases of waves of ξ that fit into a box 1.15 to 1.25 times as long.

    Along an axis with twice the `richness` there are waves of half the length. The seed chooses the
    box, as on a line, but the longer it is the fewer of its waves a plane domain can tell apart:
    with 1600 features a peak of width 0.05 on a disk is fitted to 8·10⁻⁸, 3·10⁻⁷ and 6·10⁻⁶ with
    1.05, 1.2 and 1.4; but with 1.05 the error grows a thousandfold once the peak has spread to the
    boundary, where waves that nearly fit cannot follow, and with 1.2 it does not.
    """
    low, high = (axes.at(np.asarray(end)[None])[0] * richness for end in domain.bounds)
    longer = 1.15 + 0.1 * float(sequences.low_discrepancy(1, 1, seed)[0, 0])
    spare = (longer - 1) / 2 * (high - low)
    weight, bias = lattice_waves(low - spare, high + spare, count)
    return weight * richness, bias


def crowded_interior(domain: Domain, axes: CrowdedAxes, count: int, seed: int) -> Points:
    """Points of a domain as crowded as the coordinates, with weights that carry the measure."""
    lower, upper = (np.asarray(end) for end in domain.bounds)
    lines = np.linspace(lower, upper, LINE)
    # Steep parts of a line fill it: between equidistant places it would be followed too coarsely.
    for _ in range(3):
        xi = axes.at(lines)
        even = np.linspace(0, 1, LINE)[:, None] * (xi[-1] - xi[0]) + xi[0]
        lines = np.stack(
            [np.interp(*given) for given in zip(even.T, xi.T, lines.T, strict=True)], 1
        )
    xi = axes.at(lines)
    found, have, start = [], 0, 0
    while have < count:
        unit = sequences.low_discrepancy(2 * count, domain.dim, seed, start)
        wanted = xi[0] + unit * (xi[-1] - xi[0])
        x = np.stack([np.interp(*given) for given in zip(wanted.T, xi.T, lines.T, strict=True)], 1)
        inside = x[domain.contains(x)]
        found.append(inside)
        have, start = have + len(inside), start + 2 * count
    x = np.concatenate(found)[:count]
    weight = 1 / axes.density(x)
    return Points(x, weight * (domain.measure / weight.sum()))
