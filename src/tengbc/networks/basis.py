"""A body without parameters: given functions φ₁ … φₙ, so that the network is a linear space."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.networks.body import AbstractProductBody
from tengbc.types import Point


class Basis(AbstractProductBody):
    """φ(x) = functions(x), a vector of n values; only the head is left to fit."""

    functions: Callable[[Point], Array] = eqx.field(static=True)
    dim: int = eqx.field(static=True)

    def __call__(self, x: Point) -> Float[Array, " n"]:
        return self.functions(x)

    @property
    def width(self) -> int:
        with jax.enable_x64(True):
            point = jax.ShapeDtypeStruct((self.dim,), jnp.float64)
            return jax.eval_shape(self.functions, point).size

    @property
    def signal_count(self) -> int:
        return 0

    def trace(self, x: Point, taps: Float[Array, " s"]):
        return self(x), []

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int)
