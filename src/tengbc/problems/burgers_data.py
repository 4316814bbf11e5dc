"""Reference values of the Burgers problem: how the packaged file is read.

Two symmetries of the solution make the file a quarter of a full grid: u is π-periodic in x₁ and
odd, u(−x) = −u(x). `tengbc.evidence.burgers_reference` wrote it.
"""

import functools
from importlib import resources

import numpy as np
from jaxtyping import Float

from tengbc.reference import Reference


@functools.cache
def load() -> Reference:
    """The packaged reference on the full grid of 256 × 256 points of [0, 2π)²."""
    with (resources.files("tengbc.problems") / "data" / "burgers.npz").open("rb") as file:
        data = np.load(file, allow_pickle=False)
        times, half, source = data["t"], data["u"], str(data["source"])
    period = unfold(half)
    axis = np.arange(256) * (2 * np.pi / 256)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    samples = np.concatenate([period, period], axis=1).reshape(times.size, -1)
    for array in (times, points, samples):
        array.setflags(write=False)  # shared by everyone who loads it
    return Reference(times=times, points=points, samples=samples, source=source)


def unfold(half: Float[np.ndarray, "k 65 256"]) -> Float[np.ndarray, "k 128 256"]:
    """One period x₁ ∈ [0, π) from the rows x₁ ∈ [0, π/2], u being odd."""
    padded = np.concatenate([half, np.zeros_like(half[:, :63])], axis=1)
    return np.concatenate([half, -reflect(padded)[:, 65:]], axis=1)


def reflect(u: Float[np.ndarray, "k 128 256"]) -> Float[np.ndarray, "k 128 256"]:
    """u(−x) on a periodic grid: index i becomes −i."""
    return np.roll(u[:, ::-1, ::-1], 1, axis=(1, 2))
