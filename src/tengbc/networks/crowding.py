"""Coordinates that crowd where they are needed: ξ(x) rises steeply where u is steep."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from scipy.special import ndtr

from tengbc.types import Point


class Crowding(eqx.Module):
    """ξ(x) = 1/k · Σⱼ N((x − cⱼ)/δⱼ), N being the normal distribution function: from 0 to 1.

    Where the centres c lie close together, functions that are smooth in ξ are steep in x. Centres
    and widths δ are parameters like all others.
    """

    centre: Float[Array | np.ndarray, " k"]
    spread: Float[Array | np.ndarray, " k"]

    def __call__(self, x: Point) -> Float[Array, " 1"]:
        return jnp.mean(jsp.special.ndtr(self._scaled(x)), keepdims=True)

    def _scaled(self, x: Point) -> Float[Array, " k"]:
        return jnp.asarray((x - self.centre) / self.spread)

    def at(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """ξ at many points of the line."""
        return ndtr((x[:, None] - self.centre) / self.spread).mean(axis=1)

    def slope(self, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """dξ/dx at many points of the line."""
        bell = np.exp(-0.5 * ((x[:, None] - self.centre) / self.spread) ** 2) / self.spread
        return bell.mean(axis=1) / np.sqrt(2 * np.pi)

    @property
    def signal_count(self) -> int:
        """One tap, on ξ."""
        return 1

    @property
    def activation_count(self) -> int:
        """The derivatives of ξ by its parameters."""
        return 2 * self.centre.size

    def trace(self, x: Point, taps: Float[Array, " s"]):
        """As for a body: ξ and its derivatives by c and by δ."""
        scaled = self._scaled(x)
        bell = jsp.stats.norm.pdf(scaled) / self.spread / self.centre.size
        return self(x) + taps, [-bell, -bell * scaled]

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """∂u/∂c = (∂u/∂ξ)·(∂ξ/∂c), and the same for δ."""
        count = self.activation_count
        return np.zeros(count, dtype=int), 1 + np.arange(count)


class CrowdedAxes(eqx.Module):
    """ξ(x) = (ξ₁(x₁), …, ξ_d(x_d)), each coordinate crowded on its own."""

    axes: tuple[Crowding, ...]

    def __call__(self, x: Point) -> Float[Array, " d"]:
        return jnp.concatenate([axis(x[a : a + 1]) for a, axis in enumerate(self.axes)])

    def at(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """ξ at many points."""
        return np.stack([axis.at(x[:, a]) for a, axis in enumerate(self.axes)], axis=1)

    def density(self, x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        """How crowded it is at points: the volume in ξ per volume in x."""
        return np.prod([axis.slope(x[:, a]) for a, axis in enumerate(self.axes)], axis=0)

    @property
    def signal_count(self) -> int:
        """One tap on each coordinate."""
        return len(self.axes)

    @property
    def activation_count(self) -> int:
        """The derivatives of each coordinate by its parameters."""
        return sum(axis.activation_count for axis in self.axes)

    def trace(self, x: Point, taps: Float[Array, " s"]):
        """As for a body: ξ and its derivatives."""
        traced = [axis.trace(x[a : a + 1], taps[a : a + 1]) for a, axis in enumerate(self.axes)]
        return jnp.concatenate([xi for xi, _ in traced]), [d for _, both in traced for d in both]

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """Each axis has its own signal; activations follow one another."""
        counts = [axis.activation_count for axis in self.axes]
        return np.repeat(np.arange(len(counts)), counts), 1 + np.arange(sum(counts))


MIRRORED = 12
"""Centres beyond each end, so that the crowd does not thin out there."""
CENTRES = 24
"""Centres inside: enough for a few fronts, few enough to leave ξ smooth."""
SMOOTHING = 2.0
"""Widths per distance of the centres: the map is smooth on the scale of the waves in ξ."""
SLOPE = 0.5
"""How fast lengths may grow along x: a front is approached step by step."""
LONGEST = 0.5
"""No length is longer than this part of the interval."""


def lengths(
    x: Float[np.ndarray, " n"], values: Float[np.ndarray, "n m"]
) -> Float[np.ndarray, " n"]:
    """The length on which values change by as much as they range, at ascending points.

    The smaller of range/|u'| and √(range/|u''|), over all components; from point to point it grows
    by no more than SLOPE times their distance, so that what surrounds a front is resolved too.
    """
    scale = np.ptp(values, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    slope = np.gradient(values, x, axis=0)
    bend = np.gradient(slope, x, axis=0)
    rate = np.maximum(np.abs(slope) / scale, np.sqrt(np.abs(bend) / scale)).max(axis=1)
    return graded_lengths(x, rate)


def graded_lengths(
    x: Float[np.ndarray, " n"], rate: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """Lengths of 1/rate at most, that grow by no more than SLOPE along x."""
    found = 1 / np.maximum(rate, 1 / (LONGEST * (x[-1] - x[0])))
    # min over y of length(y) + SLOPE·|x − y|, from the left and from the right
    rising = np.minimum.accumulate(found - SLOPE * x) + SLOPE * x
    falling = np.minimum.accumulate((rising + SLOPE * x)[::-1])[::-1] - SLOPE * x
    return falling


def crowding_for(x: Float[np.ndarray, " n"], length: Float[np.ndarray, " n"]) -> Crowding:
    """Coordinates in which a given length is about the same everywhere, from end to end of x."""
    density = (1 / length[1:] + 1 / length[:-1]) / 2
    crowd = np.concatenate([[0.0], np.cumsum(density * np.diff(x))])
    inside = np.interp((np.arange(CENTRES) + 0.5) / CENTRES, crowd / crowd[-1], x)
    left, right = 2 * x[0] - inside[:MIRRORED][::-1], 2 * x[-1] - inside[-MIRRORED:][::-1]
    centre = np.concatenate([left, inside, right])
    distance = np.log(np.gradient(centre))
    smooth = np.convolve(np.pad(distance, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    return Crowding(centre, SMOOTHING * np.exp(smooth))


def crowded_points(
    crowding: Crowding, start: float, end: float, count: int
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Points equispaced in ξ, and the length each stands for."""
    low, high = crowding.at(np.array([start, end]))
    wanted = low + (high - low) * np.arange(2 * count + 1) / (2 * count)
    left, right = np.full(len(wanted), start), np.full(len(wanted), end)
    for _ in range(60):  # bisection: to the last bit, whatever the crowd looks like
        middle = (left + right) / 2
        below = crowding.at(middle) < wanted
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    left[0], left[-1] = start, end
    return left[1::2], np.diff(left[::2])
