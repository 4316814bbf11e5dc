"""The paper's non-separable heat solution: Gaussians, their derivatives and plane waves."""

import jax.numpy as jnp
import numpy as np

from tengbc.types import Point, Time, Value

KAPPA = 0.1

GAUSSIANS = (
    # weights of G, ∂₁G and ∂₂G; centre; age τ
    ((0.9, 0.0, 0.0), (0.35, -0.15), 1.5),
    ((-0.7, 0.0, 0.0), (-0.25, 0.30), 2.0),
    ((0.5, 0.0, 0.0), (0.05, 0.05), 1.2),
    ((0.0, 0.2, -0.24), (0.10, -0.35), 1.8),
    ((0.0, -0.16, 0.12), (-0.40, -0.05), 1.4),
)
WAVES = (
    (0.36, (4.0, 3.0)),
    (-0.24, (6.0, 1.0)),
    (0.16, (2.0, 5.0)),
)


def gaussian(
    x: Point, t: Time, weights: tuple[float, float, float], centre: tuple[float, float], age: float
) -> Value:
    """w₀G + w₁∂₁G + w₂∂₂G of the heat kernel G = exp(−|x−x₀|²/4κ(t+τ)) / 4πκ(t+τ)."""
    width = 4 * KAPPA * (t + age)
    away = x - np.array(centre)
    kernel = jnp.exp(-jnp.sum(away**2) / width) / (jnp.pi * width)
    value, *slopes = weights
    return kernel * (value - 2 * jnp.dot(np.array(slopes), away) / width)


def wave(x: Point, t: Time, k: tuple[float, float]) -> Value:
    """W = exp(−κ|k|²t) sin(k·x); the paper leaves the phase open, we take 0."""
    vector = np.array(k)
    return jnp.exp(-KAPPA * (vector @ vector) * t) * jnp.sin(jnp.dot(vector, x))


def solution(x: Point, t: Time) -> Value:
    """u(x, t), a third of the sum of all Gaussians and waves."""
    gaussians = [gaussian(x, t, weights, centre, age) for weights, centre, age in GAUSSIANS]
    waves = [weight * wave(x, t, k) for weight, k in WAVES]
    return sum(gaussians + waves, start=jnp.zeros(())) / 3
