"""Waves of random direction and length: features that need no training for smooth solutions."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from tengbc.geometry import sequences
from tengbc.geometry.domain import Domain
from tengbc.networks.layers import Dense, DenseLayers
from tengbc.networks.network import Network, with_head

Array = np.ndarray


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
    weight, bias = waves(domain, count, seed, stretch)
    return with_head(DenseLayers(None, (Dense(weight, bias),), "sin"), components)


def waves(
    domain: Domain, count: int, seed: int = 0, stretch: float = 1.0
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """The wave vectors w and phases of the features sin(wᵀx + b)."""
    if domain.periodic:
        return lattice_waves(*domain.bounds, count)
    return _random_waves(domain, count, seed, stretch)


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


def _random_waves(domain: Domain, count: int, seed: int, stretch: float):
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


def lattice_waves(
    lower: Float[Array, " d"], upper: Float[Array, " d"], count: int
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """The shortest wave vectors that fit into a box, each as sine and as cosine."""
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
