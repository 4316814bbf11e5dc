"""The annulus and its sector."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks, faces, polar, quadrature
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face


class Ring(Domain):
    """inner < r < outer over an angle `_span` from `_start` on: what both domains share."""

    inner: float
    outer: float
    center: Sequence[float]
    _start: float = 0.0
    _span: float = polar.TURN

    @property
    def measure(self) -> float:
        return self._span / 2 * (self.outer - self.inner) * (self.outer + self.inner)

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        radius = np.linalg.norm(x - self.center, axis=1)
        return (radius >= self.inner - margin) & (radius <= self.outer + margin)

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        return self.center + polar.spread(u, self.inner, self.outer, self._start, self._span)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
        # Gauss in r, the weights with the factor r of dx = r dr dφ.
        rules = [quadrature.interval(order + 1), polar.angles(order, self._span)]
        s, weights = quadrature.product(rules)
        radius = self.inner + (self.outer - self.inner) * s[:, 0]
        x = self.center + radius[:, None] * polar.direction(self._start + self._span * s[:, 1])
        return x, weights * radius * (self.outer - self.inner) * self._span

    def _faces(self, segment: str) -> tuple[Face, ...]:
        radius, outward = (self.inner, -1.0) if segment == "inner" else (self.outer, 1.0)
        return (polar.arc(np.array(self.center), radius, outward, self._start, self._span),)


@final
@dataclass(frozen=True)
class Annulus(Ring):
    """inner < |x − center| < outer with segments "inner" and "outer"."""

    inner: float
    outer: float
    center: Sequence[float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        inner, outer = checks.radii(self.inner, self.outer)
        center = checks.vector(self.center, "center", dim=2)
        checks.assign(self, inner=inner, outer=outer, center=center)

    @property
    def segments(self) -> tuple[str, ...]:
        return ("inner", "outer")

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        center = np.array(self.center)
        return center - self.outer, center + self.outer


@final
@dataclass(frozen=True)
class AnnularSector(Ring):
    """inner < r < outer, start < φ < end (radians, anticlockwise from the first axis).

    Segments "inner" and "outer" are the arcs, "start" and "end" the straight sides.
    """

    inner: float
    outer: float
    start: float
    end: float
    center: Sequence[float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        inner, outer = checks.radii(self.inner, self.outer)
        start, end = checks.finite(self.start, "start"), checks.finite(self.end, "end")
        if not 0 < end - start < 2 * np.pi:
            raise ProblemError(
                f"The sector from start = {start} to end = {end} must open by more than 0 and less "
                "than 2π radians; correct the angles, or take Annulus for the full turn."
            )
        center = checks.vector(self.center, "center", dim=2)
        checks.assign(self, inner=inner, outer=outer, start=start, end=end, center=center)
        checks.assign(self, _start=start, _span=end - start)

    @property
    def segments(self) -> tuple[str, ...]:
        return ("inner", "outer", "start", "end")

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        # The extremes are corners, or points where the outer arc crosses an axis.
        quarters = np.arange(np.ceil(2 * self.start / np.pi), 2 * self.end / np.pi) * np.pi / 2
        ends = polar.direction(np.array([self.start, self.end]))
        crossings = np.round(polar.direction(quarters))  # exactly (±1, 0) or (0, ±1)
        x = np.concatenate([self.inner * ends, self.outer * ends, self.outer * crossings])
        return self.center + x.min(axis=0), self.center + x.max(axis=0)

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        after_start = (x - self.center) @ -self._outward("start") >= -margin
        before_end = (x - self.center) @ -self._outward("end") >= -margin
        convex = self._span <= np.pi
        between = after_start & before_end if convex else after_start | before_end
        return between & super()._inside(x, margin)

    def _outward(self, side: str) -> Float[np.ndarray, " 2"]:
        """Outward normal of a straight side: against the angle at the start, with it at the end."""
        angle, sign = (self.start, -1.0) if side == "start" else (self.end, 1.0)
        return sign * np.array([-np.sin(angle), np.cos(angle)])

    def _faces(self, segment: str) -> tuple[Face, ...]:
        if segment in ("inner", "outer"):
            return super()._faces(segment)
        ray = polar.direction(np.array([self.start if segment == "start" else self.end]))
        corner, sides = self.center + self.inner * ray[0], (self.outer - self.inner) * ray
        return (faces.flat(corner, sides, self._outward(segment)),)
