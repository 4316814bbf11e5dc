"""The annulus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import checks, polar, quadrature, sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face


@final
@dataclass(frozen=True)
class Annulus(Domain):
    """inner < |x − center| < outer with segments "inner" and "outer"."""

    inner: float
    outer: float
    center: Sequence[float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        inner, outer = checks.radii(self.inner, self.outer)
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "outer", outer)
        object.__setattr__(self, "center", checks.vector(self.center, "center", dim=2))

    @property
    def segments(self) -> tuple[str, ...]:
        return ("inner", "outer")

    @property
    def measure(self) -> float:
        return np.pi * (self.outer - self.inner) * (self.outer + self.inner)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        center = np.array(self.center)
        return center - self.outer, center + self.outer

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        radius = np.linalg.norm(x - self.center, axis=1)
        return (radius >= self.inner - margin) & (radius <= self.outer + margin)

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        return self.center + polar.spread(u, self.inner, self.outer, 0.0, 2 * np.pi)

    def _covering(self, n: int, seed: int) -> Float[np.ndarray, "n 2"]:
        return self._spread(sequences.low_discrepancy(n, 2, seed))

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
        x, weights = polar.gauss(
            order, self.inner, self.outer, 0.0, quadrature.circle(order), 2 * np.pi
        )
        return self.center + x, weights

    def _faces(self, segment: str) -> tuple[Face, ...]:
        radius, outward = (self.inner, -1.0) if segment == "inner" else (self.outer, 1.0)
        return (polar.arc(np.array(self.center), radius, outward),)
