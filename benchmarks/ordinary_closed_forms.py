"""Closed forms of those ordinary problems that have one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre
from scipy.special import erfc, erfcx, j1, jn_zeros, jv

from benchmarks.ordinary_problems import JUMP_CENTRE, JUMP_RADIUS, WALL_KAPPA, WALL_KINKS, WAVE

Array = np.ndarray
NODES = 200
"""Gauss points in time for each straight piece of a history."""
SMALLEST_DECAY = 1e-18
"""Modes of the disk that have decayed to less are left out."""


def wall(x: Float[Array, "n d"], t: float) -> Float[Array, " n"]:
    """u = ∫ S(x, t − τ) dh(τ), S the answer to a jump to one; the far side is too far to matter."""
    return _answer(x[:, 0], t, 0.0)


def wall_plane(x: Float[Array, "n 2"], t: float) -> Float[Array, " n"]:
    """The mean of the surface's temperature, and its wave along the surface."""
    return _answer(x[:, 0], t, 0.0) - 0.5 * np.cos(WAVE * x[:, 1]) * _answer(x[:, 0], t, WAVE)


def step_answer(x: Float[Array, "..."], t: Float[Array, "..."] | float, k: float) -> Array:
    """S of S_t = κ(S_xx − k²S), S(0, t) = 1, S(x, 0) = 0 on the half-line.

    S = ½[e^{−kx} erfc(η − q) + e^{kx} erfc(η + q)] with η = x/2√(κt), q = k√(κt).
    """
    spread = np.sqrt(WALL_KAPPA * t)
    eta, q = x / (2 * spread), k * spread
    # e^{kx} erfc(η + q) = exp(kx − (η + q)²) erfcx(η + q) does not overflow.
    growing = np.exp(k * x - (eta + q) ** 2) * erfcx(eta + q)
    return 0.5 * (np.exp(-k * x) * erfc(eta - q) + growing)


def _answer(x: Float[Array, " n"], t: float, k: float) -> Float[Array, " n"]:
    """A jump at zero, and slopes of the history integrated with τ = t − s², smooth in s."""
    total = WALL_KINKS[0][1] * step_answer(x, t, k)
    nodes, weights = legendre.leggauss(NODES)
    for (start, low), (end, high) in pairwise(WALL_KINKS):
        slope, last = (high - low) / (end - start), min(end, t)
        if slope == 0 or last <= start:
            continue
        ends = np.sqrt(t - last), np.sqrt(t - start)
        s = (ends[1] + ends[0]) / 2 + (ends[1] - ends[0]) / 2 * nodes
        w = (ends[1] - ends[0]) / 2 * weights * 2 * s
        total = total + slope * (w @ step_answer(x[None, :], s[:, None] ** 2, k))
    return total


def jump(x: Float[Array, "n 2"], t: float) -> Float[Array, " n"]:
    """Σ c φ(x) exp(−κk²t) over the modes φ = J_m(kr) cos mθ, J_m(kr) sin mθ of the cold disk.

    φ solves ∇²φ = −k²φ, so its integral over a disk of radius a about p is φ(p)·2πa J₁(ka)/k.
    """
    kappa, total = 0.1, np.zeros(len(x))
    r, theta = np.hypot(*x.T), np.arctan2(x[:, 1], x[:, 0])
    from_centre = float(np.hypot(*JUMP_CENTRE))
    towards = float(np.arctan2(JUMP_CENTRE[1], JUMP_CENTRE[0]))
    largest = np.sqrt(-np.log(SMALLEST_DECAY) / (kappa * t))
    for m in range(int(largest) + 1):
        zeros = jn_zeros(m, int(largest / np.pi) + 2)
        for k in zeros[zeros < largest]:
            norm = np.pi * jv(m + 1, k) ** 2 / 2 * (2 if m == 0 else 1)
            weight = jv(m, k * from_centre) * 2 * np.pi * JUMP_RADIUS * j1(k * JUMP_RADIUS) / k
            wave = jv(m, k * r) * np.cos(m * (theta - towards))
            total += weight / norm * np.exp(-kappa * k**2 * t) * wave
    return total


CLOSED_FORMS = {"wall": wall, "wall-plane": wall_plane, "jump": jump}
