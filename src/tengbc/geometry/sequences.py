"""Points of the open unit cube, random or evenly spread."""

import numpy as np
from jaxtyping import Float, Int

# Keeps a point off the faces of the cube, so that its image lies strictly inside the domain.
EDGE = 1e-12


def random(n: int, dim: int, seed: int, start: int = 0) -> Float[np.ndarray, "n d"]:
    """Independent uniform points start + 1 … start + n of those that a seed stands for."""
    points = np.random.default_rng(seed).random((start + n, dim))[start:]
    return np.clip(points, EDGE, 1 - EDGE)


def shift(seed: int, dim: int) -> Float[np.ndarray, " d"]:
    """The shift a seed stands for; seed 0 is no shift."""
    return np.zeros(dim) if seed == 0 else np.random.default_rng(seed).random(dim)


def low_discrepancy(n: int, dim: int, seed: int, start: int = 0) -> Float[np.ndarray, "n d"]:
    """Points start + 1 … start + n of an evenly spread sequence, shifted by the seed.

    On a line and in the plane the additive sequence has the most even gaps; from three dimensions
    on some of its coordinates are nearly dependent, and Halton's sequence takes over.
    """
    index = np.arange(start + 1, start + n + 1)
    points = _additive(index, dim) if dim < 3 else _halton(start, n, dim)
    return np.clip((points + shift(seed, dim)) % 1.0, EDGE, 1 - EDGE)


def _additive(index: Int[np.ndarray, " n"], dim: int) -> Float[np.ndarray, "n d"]:
    """u_k = ½ + k·(φ⁻¹, φ⁻², …) with φ^(d+1) = φ + 1, the golden ratio for d = 1."""
    ratio = 2.0
    for _ in range(64):  # a contraction for d ≥ 1: machine precision well before 64 rounds
        ratio = (1 + ratio) ** (1 / (dim + 1))
    return 0.5 + index[:, None] * ratio ** -np.arange(1.0, dim + 1)


def _halton(start: int, n: int, dim: int) -> Float[np.ndarray, "n d"]:
    """Coordinate j mirrors the digits of k in the j-th prime base p: Σᵢ digitᵢ·p⁻ⁱ⁻¹."""
    from scipy.stats import qmc  # half a second, which only problems in space pay

    points = qmc.Halton(dim, scramble=False).fast_forward(start + 1).random(n)
    return np.ascontiguousarray(points)  # sums over columns of another layout round differently
