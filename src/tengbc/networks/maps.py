"""Coordinate maps x ↦ ξ(x): features are functions of ξ, and ξ rises steeply where u is steep."""

import abc

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from scipy.special import ndtr

from tengbc.types import Point


class AbstractMap(eqx.Module):
    """A map x ↦ ξ(x) ∈ ℝᵏ whose parameters are among those of a network."""

    @abc.abstractmethod
    def __call__(self, x: Point) -> Float[Array, " k"]:
        """ξ(x)."""


class AbstractProductMap(AbstractMap):
    """A map whose Jacobian is made of products of signals and activations, as that of a body."""

    @property
    @abc.abstractmethod
    def signal_count(self) -> int:
        """How many places of the map a signal is taken from."""

    @property
    @abc.abstractmethod
    def activation_count(self) -> int:
        """How many activations `trace` gives."""

    @abc.abstractmethod
    def trace(
        self, x: Point, taps: Float[Array, " s"]
    ) -> tuple[Float[Array, " k"], list[Float[Array, " _"]]]:
        """ξ and the activations in order; `taps` (zeros) are added at the tapped places."""

    @abc.abstractmethod
    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """For each parameter the index of its signal and of its activation, 0 being the one."""


class PeriodicEmbedding(AbstractProductMap):
    """ξ(x) = (a_ij cos(2π(x_i − o_i)/ℓ_i + φ_ij) + c_ij), i = 1…d, j = 1…k: periodic in x.

    The paper's own. Amplitudes a, phases φ and offsets c are trainable; the periods ℓ and the
    origin o are the box's.
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
        shape = self.amplitude.shape
        angle_taps, output_taps = taps[: self.width], taps[self.width :]
        cosine = jnp.cos(self._angle(x) + self.phase + angle_taps.reshape(shape))
        output = self.amplitude * cosine + self.offset
        return jnp.ravel(output) + output_taps, [cosine.ravel()]

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """∂u/∂a = (∂u/∂ξ)·cos, ∂u/∂φ = (∂u/∂angle)·1, ∂u/∂c = (∂u/∂ξ)·1."""
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


class GradedAxis(eqx.Module):
    """ξ(x) = 1/k · Σⱼ N((x − cⱼ)/δⱼ) along one axis, N the normal distribution function: 0 to 1.

    Where the centres c lie close together, functions that are smooth in ξ are steep in x.
    """

    centre: Float[Array | np.ndarray, " k"]
    spread: Float[Array | np.ndarray, " k"]

    def __call__(self, x: Point) -> Float[Array, " 1"]:
        return jnp.mean(jsp.special.ndtr(self._scaled(x)), keepdims=True)

    def _scaled(self, x: Point) -> Float[Array, " k"]:
        return jnp.asarray((x - self.centre) / self.spread)

    def at(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """ξ at many points of the axis."""
        return ndtr((x[:, None] - self.centre) / self.spread).mean(axis=1)

    def slope(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """dξ/dx at many points of the axis."""
        bell = np.exp(-0.5 * ((x[:, None] - self.centre) / self.spread) ** 2) / self.spread
        return bell.mean(axis=1) / np.sqrt(2 * np.pi)


class GradedAxes(AbstractMap):
    """ξ(x) = (ξ₁(x₁), …, ξ_d(x_d)), each coordinate graded on its own."""

    axes: tuple[GradedAxis, ...]

    def __call__(self, x: Point) -> Float[Array, " d"]:
        return jnp.concatenate([axis(x[a : a + 1]) for a, axis in enumerate(self.axes)])

    def at(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """ξ at many points."""
        return np.stack([axis.at(x[:, a]) for a, axis in enumerate(self.axes)], axis=1)

    def density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """The volume in ξ per volume in x."""
        return np.prod([axis.slope(x[:, a]) for a, axis in enumerate(self.axes)], axis=0)
