"""The viscous Burgers equation on a periodic square, with stored reference values.

Two symmetries of the solution make the stored file a quarter of a full grid: u is π-periodic in x₁
and odd, u(−x) = −u(x). `benchmarks/burgers_reference.py` wrote it.
"""

import functools
import math
from importlib import resources

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.equations import Burgers
from tengbc.geometry import PeriodicBox
from tengbc.problem import Problem
from tengbc.reference import Reference
from tengbc.types import Point, Value

NU = 1e-3


def initial(x: Point) -> Value:
    """u(x, 0) = 0.04 cosh(3 sin x₁) sinh(sin x₂), the paper's four exponentials gathered."""
    return 0.04 * jnp.cosh(3 * jnp.sin(x[0])) * jnp.sinh(jnp.sin(x[1]))


def build() -> Problem:
    """∂ₜu = −u(∂₁u + ∂₂u) + 10⁻³ ∇²u, 2π-periodic along both axes."""
    return Problem(
        domain=PeriodicBox(lower=(0.0, 0.0), upper=(2 * math.pi, 2 * math.pi)),
        equation=Burgers(nu=NU),
        conditions={},
        initial=initial,
        name="burgers",
        t_end=4.0,
        reference=reference(),
        rtol=1e-5,
    )


@functools.cache
def reference() -> Reference:
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
