"""What all boxes share: corners, sides and tensor-product rules."""

import abc
from collections.abc import Sequence
from math import prod
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import faces, quadrature, sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

NAMES = (("left", "right"), ("bottom", "top"), ("back", "front"))


class Cartesian(Domain):
    """∏ᵢ (lowerᵢ, upperᵢ), with one segment for each of its 2d faces."""

    @property
    @abc.abstractmethod
    def _corners(self) -> tuple[Sequence[float], Sequence[float]]:
        """Lower and upper corner."""

    @property
    @final
    def segments(self) -> tuple[str, ...]:
        pairs = [*NAMES[: self.dim]]
        pairs += [(f"axis{axis}-lower", f"axis{axis}-upper") for axis in range(3, self.dim)]
        return tuple(name for pair in pairs for name in pair)

    @property
    @final
    def measure(self) -> float:
        lower, upper = self.bounds
        return prod((upper - lower).tolist())

    @property
    @final
    def bounds(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        lower, upper = self._corners
        return np.array(lower), np.array(upper)

    @final
    def _inside(self, x: Float[np.ndarray, "n d"], margin: float) -> Bool[np.ndarray, " n"]:
        lower, upper = self.bounds
        return np.all((x >= lower - margin) & (x <= upper + margin), axis=1)

    @final
    def _spread(self, u: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        lower, upper = self.bounds
        return lower + u * (upper - lower)

    @final
    def _covering(self, n: int, seed: int) -> Float[np.ndarray, "n d"]:
        return self._spread(sequences.low_discrepancy(n, self.dim, seed))

    @final
    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        u, weights = quadrature.product([quadrature.interval(order)] * self.dim)
        return self._spread(u), self.measure * weights

    @final
    def _faces(self, segment: str) -> tuple[Face, ...]:
        axis, side = divmod(self.segments.index(segment), 2)
        lower, upper = self.bounds
        unit = np.eye(self.dim)
        corner = np.where(unit[axis] * side > 0, upper, lower)
        sides = np.delete(np.diag(upper - lower), axis, axis=0)
        return (faces.flat(corner, sides, (2 * side - 1) * unit[axis]),)
