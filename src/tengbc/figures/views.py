"""What pictures show of a domain: a line, the plane, the middle slices of a solid."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from tengbc.geometry import Domain

Array = np.ndarray


@dataclass(frozen=True)
class View:
    """The coordinates `axes` of a domain vary, the others stay in the middle of its box."""

    domain: Domain
    axes: tuple[int, ...]

    @property
    def bounds(self) -> tuple[Float[Array, " s"], Float[Array, " s"]]:
        """Lower and upper corner of the picture."""
        lower, upper = self.domain.bounds
        return lower[list(self.axes)], upper[list(self.axes)]

    @property
    def fixed(self) -> list[tuple[int, float]]:
        """(axis, value) of the coordinates that stay."""
        middle = np.mean(self.domain.bounds, axis=0)
        return [(axis, middle[axis]) for axis in range(self.domain.dim) if axis not in self.axes]

    def place(self, shown: Float[Array, "n s"]) -> Float[Array, "n d"]:
        """Points of the domain's space from their coordinates in the picture."""
        x = np.empty((len(shown), self.domain.dim))
        x[:, self.axes] = shown
        for axis, value in self.fixed:
            x[:, axis] = value
        return x


def views(domain: Domain) -> list[View]:
    """One view in one and two dimensions, three in three; beyond, the first two axes."""
    if domain.dim == 3:
        return [View(domain, pair) for pair in combinations(range(3), 2)]
    return [View(domain, tuple(range(min(domain.dim, 2))))]
