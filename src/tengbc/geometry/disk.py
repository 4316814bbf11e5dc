"""The disk, and the ball in three dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import checks, polar, quadrature, sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True)
class Round(Domain):
    """|x − center| < radius: what disk and ball share."""

    radius: float
    center: Sequence[float]

    def __post_init__(self) -> None:
        radius = checks.positive(self.radius, "radius")
        center = checks.vector(self.center, "center", dim=len(type(self).center))
        checks.assign(self, radius=radius, center=center)

    @property
    def scale(self) -> float:
        return self.radius

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        center = np.array(self.center)
        return center - self.radius, center + self.radius

    def _inside(self, x: Float[np.ndarray, "n d"], margin: float) -> Bool[np.ndarray, " n"]:
        return np.linalg.norm(x - self.center, axis=1) <= self.radius + margin


@final
@dataclass(frozen=True)
class Disk(Round):
    """|x − center| < radius with the segment "circle"."""

    radius: float = 1.0
    center: Sequence[float] = (0.0, 0.0)

    @property
    def segments(self) -> tuple[str, ...]:
        return ("circle",)

    @property
    def measure(self) -> float:
        return np.pi * self.radius**2

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        return self.center + polar.spread(u, 0.0, self.radius)

    def _covering(self, n: int, seed: int) -> Float[np.ndarray, "n 2"]:
        """The sunflower: r_k = R·√((k + ½)/n), turned by the golden angle from point to point."""
        turn, step = sequences.shift(seed, 2)
        k = np.arange(n)
        # The shift of the radii stays within a quarter of a step, clear of centre and rim.
        area = (k + 0.5 + 0.25 * np.sin(2 * np.pi * step)) / n
        angle = GOLDEN_ANGLE * k + 2 * np.pi * turn
        return self.center + self.radius * np.sqrt(area)[:, None] * polar.direction(angle)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
        # The mean of a polynomial over a circle is a polynomial in r², which is linear in area.
        u, weights = quadrature.product([quadrature.interval(order // 2), quadrature.circle(order)])
        return self._spread(u), self.measure * weights

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return (polar.arc(np.array(self.center), self.radius, 1.0),)


@final
@dataclass(frozen=True)
class Ball(Round):
    """|x − center| < radius in three dimensions with the segment "sphere"."""

    radius: float = 1.0
    center: Sequence[float] = (0.0, 0.0, 0.0)

    @property
    def segments(self) -> tuple[str, ...]:
        return ("sphere",)

    @property
    def measure(self) -> float:
        return 4 / 3 * np.pi * self.radius**3

    def _spread(self, u: Float[np.ndarray, "n 3"]) -> Float[np.ndarray, "n 3"]:
        return self.center + self.radius * np.cbrt(u[:, :1]) * _direction(u[:, 1:])

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, " n"]]:
        # Degree order + 2 in r, for the factor r² of dx = r² dr dσ.
        s, weights = quadrature.product([quadrature.interval(order + 2), *_sphere(order)])
        x = self.center + self.radius * s[:, :1] * _direction(s[:, 1:])
        return x, weights * s[:, 0] ** 2 * 4 * np.pi * self.radius**3

    def middle_slice(self, axes: tuple[int, ...]) -> Disk:
        return Disk(self.radius, [self.center[axis] for axis in axes])

    def _faces(self, segment: str) -> tuple[Face, ...]:
        def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            normal = _direction(s)
            return self.center + self.radius * normal, normal

        def uniform(n: int) -> np.ndarray:
            """The Fibonacci spiral: equal steps in height, golden angle in longitude."""
            k = np.arange(n)
            return np.stack([(k + 0.5) / n, k * (np.sqrt(5) - 1) / 2 % 1.0], axis=1)

        def gauss(order: int) -> tuple[np.ndarray, np.ndarray]:
            return quadrature.product(_sphere(order))

        return (Face(4 * np.pi * self.radius**2, place, uniform, gauss),)


def _direction(s: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 3"]:
    """The unit square onto the unit sphere, preserving area: height 2s₁ − 1, longitude 2π·s₂."""
    height, longitude = 2 * s[:, 0] - 1, 2 * np.pi * s[:, 1]
    distance = 2 * np.sqrt(s[:, 0] * (1 - s[:, 0]))  # from the axis
    return np.stack([distance * np.cos(longitude), distance * np.sin(longitude), height], axis=1)


def _sphere(order: int) -> list[quadrature.Rule]:
    """The product rule of the sphere, exact for polynomials of degree `order`."""
    return [quadrature.interval(order), quadrature.circle(order)]
