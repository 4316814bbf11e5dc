"""The paper's periodic embedding: every function of it is exactly periodic by construction."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.types import Point


class PeriodicEmbedding(eqx.Module):
    """e(x) = (a_ij cos(2π(x_i − o_i)/ℓ_i + φ_ij) + c_ij), i = 1…d, j = 1…k.

    Amplitudes a, phases φ and offsets c are trainable; the periods ℓ and the origin o are the
    box's.
    """

    amplitude: Float[Array | np.ndarray, "d k"]
    phase: Float[Array | np.ndarray, "d k"]
    offset: Float[Array | np.ndarray, "d k"]
    origin: tuple[float, ...] = eqx.field(static=True)
    period: tuple[float, ...] = eqx.field(static=True)

    def __call__(self, x: Point) -> Float[Array, " n"]:
        wave = jnp.cos(self._angle(x) + self.phase)
        return jnp.ravel(self.amplitude * wave + self.offset)

    def _angle(self, x: Point) -> Float[Array, "d 1"]:
        turns = (x - jnp.asarray(self.origin)) / jnp.asarray(self.period)
        return jnp.asarray(2 * jnp.pi * turns)[:, None]

    @property
    def width(self) -> int:
        """The number of outputs, d·k."""
        return self.amplitude.size

    @property
    def signal_count(self) -> int:
        """One tap on each angle and one on each output."""
        return 2 * self.width

    @property
    def activation_count(self) -> int:
        """The cosines."""
        return self.width

    def trace(self, x: Point, taps: Float[Array, " s"]):
        """As for a body: outputs and activations, with taps on the angles, then the outputs."""
        shape = self.amplitude.shape
        angle_taps, output_taps = taps[: self.width], taps[self.width :]
        cosine = jnp.cos(self._angle(x) + self.phase + angle_taps.reshape(shape))
        output = self.amplitude * cosine + self.offset
        return jnp.ravel(output) + output_taps, [cosine.ravel()]

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """∂u/∂a = (∂u/∂e)·cos, ∂u/∂φ = (∂u/∂angle)·1, ∂u/∂c = (∂u/∂e)·1."""
        each, one = np.arange(self.width), np.zeros(self.width, dtype=int)
        signals = np.concatenate([self.width + each, each, self.width + each])
        return signals, np.concatenate([1 + each, one, one])


def periodic_embedding(
    lower: np.ndarray, upper: np.ndarray, size: int, rng: np.random.Generator
) -> PeriodicEmbedding:
    """`size` waves per coordinate: phases spread evenly over the circle, amplitudes near one."""
    shape = (len(lower), size)
    phase = 2 * np.pi * (np.arange(size) + rng.random(shape)) / size
    return PeriodicEmbedding(
        1 + 0.1 * rng.normal(size=shape),
        phase,
        0.1 * rng.normal(size=shape),
        tuple(float(value) for value in lower),
        tuple(float(value) for value in np.subtract(upper, lower)),
    )
