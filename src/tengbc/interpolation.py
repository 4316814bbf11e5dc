"""Interpolation in time: the polynomial through the stored states nearest to an instant."""

import numpy as np
from jaxtyping import Float, Int

Array = np.ndarray


def neighbours(
    times: Float[Array, " n"], t: float, count: int
) -> tuple[Int[Array, " k"], Float[Array, " k"]]:
    """Indices of `count` stored times around t, and their weights; a stored time stands alone."""
    nearest = int(np.argmin(np.abs(times - t)))
    if abs(times[nearest] - t) <= 1e-12 * times[-1]:
        return np.array([nearest]), np.ones(1)
    first = np.searchsorted(times, t) - count // 2
    first = int(np.clip(first, 0, max(len(times) - count, 0)))
    chosen = np.arange(first, min(first + count, len(times)))
    return chosen, lagrange_weights(times[chosen], t)


def within_step(
    times: Float[Array, " n"], t: float, stages: int
) -> tuple[Int[Array, " k"], Float[Array, " k"]]:
    """Indices of the stored times of the step that t lies in, and their weights, unless zero."""
    chosen, weights = within_steps(times, np.array([t]), stages)
    return chosen[weights != 0], weights[weights != 0]


def within_steps(
    times: Float[Array, " n"], at: Float[Array, " m"], stages: int
) -> tuple[Int[Array, "m k"], Float[Array, "m k"]]:
    """The same for many instants at once; at a stored time its weight is one, the others zero."""
    first = np.maximum(np.searchsorted(times, at) - 1, 0) // stages * stages
    first = np.minimum(first, max(len(times) - 1 - stages, 0))
    chosen = first[:, None] + np.arange(min(stages + 1, len(times)))
    return chosen, lagrange_weights(times[chosen], at)


def lagrange_weights(
    nodes: Float[Array, "*m k"], t: Float[Array, "*m"] | float
) -> Float[Array, "*m k"]:
    """Weights ℓᵢ(t) of the polynomial through values at the nodes."""
    scaled = (nodes - np.asarray(t)[..., None]) / np.ptp(nodes, axis=-1)[..., None]
    apart = scaled[..., :, None] - scaled[..., None, :]
    same = np.eye(nodes.shape[-1], dtype=bool)
    ratios = np.where(same, 1.0, -scaled[..., None, :] / np.where(same, 1.0, apart))
    return np.prod(ratios, axis=-1)
