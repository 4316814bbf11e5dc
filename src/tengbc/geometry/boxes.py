"""The interval, the rectangle and the box in any dimension."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import checks, faces, quadrature
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

NAMES = (("left", "right"), ("bottom", "top"), ("back", "front"))


class Cartesian(Domain):
    """What all boxes share: ∏ᵢ (lowerᵢ, upperᵢ), with one segment for each of its 2d faces."""

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


@final
@dataclass(frozen=True)
class Interval(Cartesian):
    """(start, end) with segments "left" and "right", a single point each, of weight one."""

    start: float
    end: float

    def __post_init__(self) -> None:
        start, end = checks.finite(self.start, "start"), checks.finite(self.end, "end")
        checks.box((start,), (end,))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)

    @property
    def _corners(self) -> tuple[tuple[float], tuple[float]]:
        return (self.start,), (self.end,)


@final
@dataclass(frozen=True)
class Rectangle(Cartesian):
    """(lower₁, upper₁) × (lower₂, upper₂) with segments left, right, bottom and top."""

    lower: Sequence[float] = (0.0, 0.0)
    upper: Sequence[float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper, dim=2)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def _corners(self) -> tuple[Sequence[float], Sequence[float]]:
        return self.lower, self.upper


@final
@dataclass(frozen=True)
class Box(Cartesian):
    """∏ᵢ (lowerᵢ, upperᵢ).

    Segments, lower face before upper: left and right (first axis), bottom and top (second), back
    and front (third), axis3-lower and axis3-upper (fourth), …
    """

    lower: Sequence[float]
    upper: Sequence[float]

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def _corners(self) -> tuple[Sequence[float], Sequence[float]]:
        return self.lower, self.upper
