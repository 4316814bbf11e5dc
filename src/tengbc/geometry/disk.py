"""The disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import checks, polar, quadrature, sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@final
@dataclass(frozen=True)
class Disk(Domain):
    """|x − center| < radius with the segment "circle"."""

    radius: float = 1.0
    center: Sequence[float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        checks.assign(
            self,
            radius=checks.positive(self.radius, "radius"),
            center=checks.vector(self.center, "center", dim=2),
        )

    @property
    def scale(self) -> float:
        return self.radius

    @property
    def segments(self) -> tuple[str, ...]:
        return ("circle",)

    @property
    def measure(self) -> float:
        return np.pi * self.radius**2

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        center = np.array(self.center)
        return center - self.radius, center + self.radius

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        return np.linalg.norm(x - self.center, axis=1) <= self.radius + margin

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        return self.center + polar.spread(u, 0.0, self.radius, 0.0, 2 * np.pi)

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
