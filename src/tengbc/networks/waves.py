"""Waves sin(wᵀξ(x) + b): features that need no training, of coordinates that suit the solution."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from tengbc.geometry import sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks.adapt import graded_interior
from tengbc.networks.layers import Dense, DenseLayers
from tengbc.networks.maps import AbstractMap, GradedAxes, GradedAxis
from tengbc.networks.network import Network, with_head

Array = np.ndarray
WaveVectors = tuple[Float[Array, "k d"], Float[Array, " k"]]
"""The wave vectors w and phases b."""


def random_features(
    domain: Domain, count: int, components: int = 0, *, seed: int = 0, stretch: float = 1.0
) -> Network:
    """`count` features sin(wᵀ(x − x̄) + φ), w normal, φ uniform: one hidden layer, head zero.

    Lengths are measured by the domain itself: w ~ N(0, (s/2)²·C⁻¹), C being the covariance of its
    points, so that a domain moved, turned or stretched keeps its features. The scale s grows with
    the number of features, so that they stay as independent as round-off allows; on the unit disk
    w ~ N(0, s²). `stretch` multiplies s, for data with short waves. On a periodic box the waves are
    those that fit into it, the longest first.
    """
    return FeatureFamily(stretch).network(domain, components, count, seed)


@dataclass(frozen=True, eq=False)
class FeatureFamily:
    """Which features: random waves of x, stretched or not, or a lattice of waves of graded axes.

    `wave_density` says how many lengths of the solution fit along each graded axis.
    """

    stretch: float = 1.0
    axes: GradedAxes | None = None
    wave_density: Float[Array, " d"] | None = None

    def network(self, domain: Domain, components: int, count: int, seed: int) -> Network:
        """A network of `count` features of this family, with a zero head."""
        return waves_of(self.axes, self.waves(domain, count, seed), components)

    def interior(self, domain: Domain, count: int, seed: int) -> Points:
        """Points for a fit, as dense as the features."""
        if self.axes is not None:
            return graded_interior(domain, self.axes, count, seed)
        return domain.interior(count, seed=seed)

    def waves(self, domain: Domain, count: int, seed: int) -> WaveVectors:
        """The wave vectors and phases of `count` features."""
        if self.axes is not None:
            assert self.wave_density is not None
            return box_waves(domain, self.axes, self.wave_density, count, seed)
        if domain.periodic:
            return lattice_waves(*domain.bounds, count)
        return random_waves(domain, count, seed, self.stretch)

    def at(self, x: Float[Array, "n d"], waves: WaveVectors) -> Float[Array, "n k+1"]:
        """The features with those waves at many points, and the constant."""
        xi = x if self.axes is None else self.axes.at(x)
        return np.hstack([np.sin(xi @ waves[0].T + waves[1]), np.ones((len(x), 1))])


def waves_of(map: AbstractMap | None, waves: WaveVectors, components: int) -> Network:
    """The network whose features are waves of a map's coordinates, or of x itself."""
    return with_head(DenseLayers(map, (Dense(*waves),), "sin"), components)


def graded_network(
    domain: Domain, axis: GradedAxis, count: int, components: int, seed: int
) -> Network:
    """Waves of a graded coordinate on an interval."""
    ends = np.array([float(end[0]) for end in domain.bounds])
    low, high = axis.at(ends)
    return waves_of(
        GradedAxes((axis,)), interval_waves(float(low), float(high), count, seed), components
    )


def wave_scale(count: int, dim: int) -> float:
    """The standard deviation s of the wave numbers on a ball of radius one.

    A ball of volume V holds about V·(V·sᵈ)/(2π)ᵈ independent waves of wave numbers up to s. There
    are 24 times as many features, most of them shorter than s: measured on the benchmarks, the
    error doubles if s is a fifth smaller or larger. In higher dimensions most of a normal sample
    lies far out, at √d·s, and longer waves do better: measured on balls and boxes in three
    dimensions, half the s of that rule gains three to four digits.
    """
    ball = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1)
    surplus = 24 * 8 ** max(dim - 2, 0)
    return 2 * math.pi * (count / ball**2 / surplus) ** (1 / dim)


def random_waves(domain: Domain, count: int, seed: int, stretch: float) -> WaveVectors:
    """Waves of random direction and length."""
    dim = domain.dim
    points = domain.interior(4096).x
    centre = points.mean(axis=0)
    spread = np.linalg.cholesky(np.atleast_2d(np.cov(points.T)))
    # Evenly spread numbers leave fewer gaps between the waves than independent ones.
    uniform = sequences.low_discrepancy(count, dim + 1, seed)
    normal = ndtri(0.005 + 0.99 * uniform[:, :dim])
    s = stretch * wave_scale(count, dim)
    # In a ball of radius ρ the covariance is ρ²/(d + 2), which makes w ~ N(0, (s/ρ)²).
    weight = s * np.linalg.solve(spread.T, normal.T).T / math.sqrt(dim + 2)
    return weight, 2 * np.pi * uniform[:, dim] - weight @ centre


def lattice_waves(lower: Float[Array, " d"], upper: Float[Array, " d"], count: int) -> WaveVectors:
    """The longest waves that fit into a box, each as sine and as cosine."""
    dim, unit = len(lower), 2 * np.pi / (upper - lower)
    # Along a longer side more waves are as short as the rest.
    ratio = math.prod(unit) ** (1 / dim) / unit
    reach = np.ceil((count + 1) ** (1 / dim) * ratio).astype(int) + 1
    numbers = [np.arange(-most, most + 1) for most in reach]
    lattice = np.stack(np.meshgrid(*numbers, indexing="ij"), axis=-1)
    lattice = lattice.reshape(-1, dim)
    # One of k and −k: the first nonzero entry is positive. k = 0 is the head's constant.
    first = np.argmax(lattice != 0, axis=1)
    lattice = lattice[np.take_along_axis(lattice, first[:, None], axis=1)[:, 0] > 0]
    length = np.linalg.norm(lattice * unit, axis=1)
    chosen = lattice[np.argsort(length, kind="stable")[: -(-count // 2)]] * unit
    weight = np.repeat(chosen, 2, axis=0)[:count]
    phase = np.tile([0.0, np.pi / 2], len(chosen))[:count]
    return weight, phase - weight @ lower


def interval_waves(start: float, end: float, count: int, seed: int = 0) -> WaveVectors:
    """Sines and cosines of an interval some 1.6 times as long.

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
    domain: Domain, axes: GradedAxes, wave_density: Float[Array, " d"], count: int, seed: int
) -> WaveVectors:
    """Waves of graded axes that fit into a box 1.15 to 1.25 times as long.

    Along an axis with twice the `wave_density` there are waves of half the length. The seed chooses
    the box, as on a line, but the longer it is the fewer of its waves a plane domain can tell
    apart: with 1600 features a peak of width 0.05 on a disk is fitted to 8·10⁻⁸, 3·10⁻⁷ and 6·10⁻⁶
    with 1.05, 1.2 and 1.4; but with 1.05 the error grows a thousandfold once the peak has spread to
    the boundary, where waves that nearly fit cannot follow, and with 1.2 it does not.
    """
    low, high = (axes.at(np.asarray(end)[None])[0] * wave_density for end in domain.bounds)
    longer = 1.15 + 0.1 * float(sequences.low_discrepancy(1, 1, seed)[0, 0])
    spare = (longer - 1) / 2 * (high - low)
    weight, bias = lattice_waves(low - spare, high + spare, count)
    return weight * wave_density, bias
