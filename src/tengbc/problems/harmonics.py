"""Decaying disk harmonics J_m(k r) cos(mθ) exp(−κk²t): solutions of the heat equation.

A disk harmonic is an average of plane waves of one wave number,

    J_m(k r) cos(mθ) = i⁻ᵐ (1/2π) ∫₀^2π cos(mτ) exp(i k (x₁ cos τ + x₂ sin τ)) dτ,

and the average over equispaced angles converges faster than any power. So there is no r, no θ and
no branch at the origin: derivatives exist everywhere, and each wave solves the heat equation.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.types import Point, Time, Value


class Harmonic(NamedTuple):
    """coefficient · J_order(wavenumber · r) · cos(order · θ)."""

    coefficient: float
    order: int
    wavenumber: float


def decaying(harmonics: Iterable[Harmonic], kappa: float) -> Callable[[Point, Time], Value]:
    """u(x, t) = Σ c J_m(k r) cos(mθ) exp(−κ k² t), solving ∂ₜu = κ∇²u in the plane.

    Accurate to rounding for r ≤ 1.25.
    """
    even, odd = [], []
    for harmonic in harmonics:
        (odd if harmonic.order % 2 else even).append(_plane_waves(harmonic))
    groups = [
        (wave, *(np.concatenate(parts) for parts in zip(*waves, strict=True)))
        for wave, waves in ((jnp.cos, even), (jnp.sin, odd))
        if waves
    ]

    def u(x: Point, t: Time) -> Value:
        total = jnp.zeros(())
        for wave, k, amplitudes in groups:
            decay = jnp.exp(-kappa * np.sum(k**2, axis=1) * t)
            total = total + jnp.dot(amplitudes * decay, wave(k @ x))
        return total

    return u


def _plane_waves(harmonic: Harmonic) -> tuple[Float[np.ndarray, "p 2"], Float[np.ndarray, " p"]]:
    """Wave vectors and amplitudes of the cosines (even order) or sines (odd order) that add up.

    Opposite wave vectors give the same wave, so half the circle is enough.
    """
    coefficient, order, wavenumber = harmonic
    count = _count(order, wavenumber)
    angles = np.arange(count) * np.pi / count
    sign = (-1) ** (order // 2)  # i⁻ᵐ, times i where the waves are sines
    vectors = wavenumber * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return vectors, sign * coefficient * np.cos(order * angles) / count


def _count(order: int, wavenumber: float) -> int:
    """Angles on the half circle that make the average exact to rounding.

    The error with N angles is about J_n(k r) ≤ (k r / 2)ⁿ / n! with n = 2N − m.
    """
    half = wavenumber * 1.25 / 2
    n = order + 1
    while n * math.log(half) - math.lgamma(n + 1) > math.log(1e-18):
        n += 1
    return math.ceil((n + order) / 2)
