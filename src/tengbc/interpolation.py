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
    """Indices of the stored times of the step that t lies in, and their weights."""
    first = max(int(np.searchsorted(times, t)) - 1, 0) // stages * stages
    chosen = np.arange(first, min(first + stages + 1, len(times)))
    exact = np.flatnonzero(times[chosen] == t)
    if exact.size:
        return chosen[exact], np.ones(1)
    return chosen, lagrange_weights(times[chosen], t)


def lagrange_weights(nodes: Float[Array, " k"], t: float) -> Float[Array, " k"]:
    """Weights ℓᵢ(t) of the polynomial through values at the nodes."""
    scaled = (nodes - t) / (nodes[-1] - nodes[0])
    weights = np.ones(len(nodes))
    for i in range(len(nodes)):
        others = np.delete(scaled, i)
        weights[i] = np.prod(-others / (scaled[i] - others))
    return weights
