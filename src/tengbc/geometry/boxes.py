"""The interval, the rectangle, the box in any dimension, and the periodic box."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tengbc.geometry import checks, faces, quadrature
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

NAMES = (("left", "right"), ("bottom", "top"), ("back", "front"))
Corner = Sequence[float] | np.ndarray


class AxisAligned(Domain):
    """∏ᵢ (lowerᵢ, upperᵢ): what a box has with or without a boundary."""

    @property
    @final
    def measure(self) -> float:
        lower, upper = self.bounds
        return prod((upper - lower).tolist())

    @final
    def _spread(self, u: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        lower, upper = self.bounds
        return lower + u * (upper - lower)

    @final
    def _tensor_rule(
        self, rule: quadrature.Rule
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        """The same rule of the unit interval along every axis."""
        u, weights = quadrature.product([rule] * self.dim)
        return self._spread(u), self.measure * weights


@dataclass(frozen=True)
class Corners:
    """A box given by its lower and upper corner, of `_dim` coordinates where that is fixed."""

    lower: Corner
    upper: Corner
    _dim: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper, self._dim)
        checks.assign(self, lower=lower, upper=upper)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        return np.array(self.lower), np.array(self.upper)


class Cartesian(AxisAligned):
    """A box with one segment for each of its 2d faces."""

    @property
    @final
    def segments(self) -> tuple[str, ...]:
        pairs = [*NAMES[: self.dim]]
        pairs += [(f"axis{axis}-lower", f"axis{axis}-upper") for axis in range(3, self.dim)]
        return tuple(name for pair in pairs for name in pair)

    @final
    def _inside(self, x: Float[np.ndarray, "n d"], margin: float) -> Bool[np.ndarray, " n"]:
        lower, upper = self.bounds
        return np.all((x >= lower - margin) & (x <= upper + margin), axis=1)

    @final
    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        return self._tensor_rule(quadrature.interval(order))

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
        checks.assign(self, start=start, end=end)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 1"], Float[np.ndarray, " 1"]]:
        return np.array([self.start]), np.array([self.end])


@final
@dataclass(frozen=True)
class Rectangle(Corners, Cartesian):
    """(lower₁, upper₁) × (lower₂, upper₂) with segments left, right, bottom and top."""

    lower: Corner = (0.0, 0.0)
    upper: Corner = (1.0, 1.0)
    _dim: ClassVar[int | None] = 2


@final
@dataclass(frozen=True)
class Box(Corners, Cartesian):
    """∏ᵢ (lowerᵢ, upperᵢ).

    Segments, lower face before upper: left and right (first axis), bottom and top (second), back
    and front (third), axis3-lower and axis3-upper (fourth), …
    """


@final
@dataclass(frozen=True)
class PeriodicBox(Corners, AxisAligned):
    """∏ᵢ [lowerᵢ, upperᵢ) with opposite faces glued together.

    It has no boundary and contains every finite point; `wrap` gives the point's place in the box.
    """

    periodic: ClassVar[bool] = True

    @property
    def segments(self) -> tuple[str, ...]:
        return ()

    def wrap(self, x: ArrayLike) -> Float[np.ndarray, "n d"]:
        """The same points inside the box: lower + (x − lower) mod (upper − lower)."""
        lower, upper = self.bounds
        wrapped = lower + (checks.coordinates(x, self.dim) - lower) % (upper - lower)
        # Rounding takes a point just below `lower` to `upper`, which is the place `lower`.
        return np.where(wrapped >= upper, lower, wrapped)

    def _inside(self, x: Float[np.ndarray, "n d"], margin: float) -> Bool[np.ndarray, " n"]:
        return np.ones(len(x), dtype=bool)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
        # For periodic functions the equispaced rule is the Gauss rule.
        return self._tensor_rule(quadrature.circle(order))

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return ()
