"""Points of the open unit cube: random, and evenly spread (low-discrepancy)."""

import numpy as np
from jaxtyping import Float

# Keeps a point off the faces of the cube, so that its image lies strictly inside the domain.
EDGE = 1e-12


def random(n: int, dim: int, seed: int) -> Float[np.ndarray, "n d"]:
    """Independent uniform points."""
    return np.clip(np.random.default_rng(seed).random((n, dim)), EDGE, 1 - EDGE)


def shift(seed: int, dim: int) -> Float[np.ndarray, " d"]:
    """The shift a seed stands for; seed 0 is no shift."""
    return np.zeros(dim) if seed == 0 else np.random.default_rng(seed).random(dim)


def low_discrepancy(n: int, dim: int, seed: int, start: int = 0) -> Float[np.ndarray, "n d"]:
    """The additive sequence R_d: u_k = frac(½ + shift + k·(φ⁻¹, φ⁻², …)), φ^(d+1) = φ + 1.

    It generalises the golden ratio, so every n gives an even cover, not only powers of two.
    `start` skips the first points.
    """
    ratio = 2.0
    for _ in range(64):  # a contraction for dim ≥ 1: machine precision well before 64 rounds
        ratio = (1 + ratio) ** (1 / (dim + 1))
    step = ratio ** -np.arange(1.0, dim + 1)
    k = np.arange(start, start + n)[:, None]
    return np.clip((0.5 + shift(seed, dim) + k * step) % 1.0, EDGE, 1 - EDGE)
