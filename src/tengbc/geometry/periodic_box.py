"""The periodic box in any dimension."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tengbc.geometry import checks, quadrature
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face


@final
@dataclass(frozen=True)
class PeriodicBox(Domain):
    """∏ᵢ [lowerᵢ, upperᵢ) with opposite faces glued together.

    It has no boundary and contains every finite point; `wrap` gives the point's place in the box.
    """

    lower: Sequence[float]
    upper: Sequence[float]
    periodic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def segments(self) -> tuple[str, ...]:
        return ()

    @property
    def measure(self) -> float:
        lower, upper = self.bounds
        return prod((upper - lower).tolist())

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        return np.array(self.lower), np.array(self.upper)

    def wrap(self, x: ArrayLike) -> Float[np.ndarray, "n d"]:
        """The same points inside the box: lower + (x − lower) mod (upper − lower)."""
        lower, upper = self.bounds
        wrapped = lower + (checks.coordinates(x, self.dim) - lower) % (upper - lower)
        # Rounding takes a point just below `lower` to `upper`, which is the place `lower`.
        return np.where(wrapped >= upper, lower, wrapped)

    def _inside(self, x: Float[np.ndarray, "n d"], margin: float) -> Bool[np.ndarray, " n"]:
        return np.ones(len(x), dtype=bool)

    def _spread(self, u: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        lower, upper = self.bounds
        return lower + u * (upper - lower)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        # For periodic functions the equispaced rule is the Gauss rule.
        u, weights = quadrature.product([quadrature.circle(order)] * self.dim)
        return self._spread(u), self.measure * weights

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return ()
