"""What every domain can do: points inside, points on named boundary segments, membership."""

import abc
import importlib
from collections.abc import Callable
from math import ceil
from typing import Any, ClassVar, final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tengbc.errors import ProblemError, UsageError
from tengbc.geometry import checks, faces, grids, sequences, triangles
from tengbc.geometry.faces import Face
from tengbc.geometry.mesh import triangulate
from tengbc.geometry.points import BoundaryPoints, Points

DEFAULT_ORDER = 20
MESH = 12
"""Triangles across a plane domain that has no integration rule of its own."""
HOPELESS = 1000
"""Points that are tried, per point expected, before a domain counts as empty."""
Array = np.ndarray


class Domain(abc.ABC):
    """A bounded domain Ω with a boundary of named segments.

    A domain of one's own gives its `segments` and `bounds`, tells by `_inside` which points belong
    to it, and by `_faces` of what its boundary consists. All the rest follows; a formula for its
    `measure`, a map `_spread` or an integration rule `_gauss` make it faster and more exact.
    """

    periodic: ClassVar[bool] = False
    region_names: Any = ()
    """The names of its regions, if it has some: see `with_regions`."""
    interfaces: Any = ()
    """Where two of them meet."""

    @property
    @abc.abstractmethod
    def segments(self) -> tuple[str, ...]:
        """Names of the boundary segments."""

    @property
    @abc.abstractmethod
    def bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        """Lower and upper corner of the bounding box."""

    @abc.abstractmethod
    def _inside(self, x: Float[Array, "n d"], margin: float) -> Bool[Array, " n"]:
        """Points no farther outside than `margin`; a negative margin asks for that depth inside."""

    @abc.abstractmethod
    def _faces(self, segment: str) -> tuple[Face, ...]:
        """The smooth pieces of a segment."""

    @property
    def measure(self) -> float:
        """Length, area or volume |Ω|; by default (1/d)·∮ x·n, from the boundary."""
        middle = np.mean(self.bounds, axis=0)
        rim = [self.boundary(segment, rule="gauss") for segment in self.segments]
        return sum(float(p.w @ np.sum((p.x - middle) * p.normal, axis=1)) for p in rim) / self.dim

    def _spread(self, u: Float[Array, "n d"]) -> Float[Array, "n d"] | None:
        """A map of the unit cube onto the domain that preserves the measure; None: not known."""
        return None

    def _covering(self, n: int, seed: int) -> Float[Array, "n d"]:
        """Exactly n evenly spread points."""
        return self._drawn(sequences.low_discrepancy, n, seed)

    def _gauss(self, order: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        """Nodes and positive weights of an integration rule.

        By default Gauss's rule on the triangles of a mesh in the plane, and evenly spread points of
        equal weight elsewhere.
        """
        if self.dim == 2:
            points, corners = triangulate(self, across=MESH)
            x, weights = triangles.gauss(points[corners], order)
        else:
            x = self._covering(4 * (order + 1) ** min(self.dim, 3), 0)
            weights = np.ones(len(x))
        return x, weights * (self.measure / weights.sum())

    def middle_slice(self, axes: tuple[int, ...]) -> "Domain | None":
        """The plane through the middle of a solid along two axes, if it is a known domain."""
        return None

    @property
    def dim(self) -> int:
        """Dimension of the space."""
        return len(self.bounds[0])

    @property
    def scale(self) -> float:
        """The size of the domain: half the diagonal of its box; of a disk or a ball, its radius."""
        lower, upper = self.bounds
        return float(np.linalg.norm(upper - lower)) / 2

    @property
    def fills_box(self) -> bool:
        """Whether the domain is all of its bounding box."""
        return bool(np.isclose(self._share, 1.0, rtol=1e-9))

    @final
    def interior(
        self,
        n: int | None = None,
        *,
        rule: str = "low-discrepancy",
        per_axis: int | None = None,
        order: int | None = None,
        seed: int = 0,
    ) -> Points:
        """Points strictly inside the domain, with weights of sum |Ω|.

        rule: "low-discrepancy" and "random" give exactly `n` points; "uniform" clips a grid of
        `per_axis` cells per axis of the bounding box, or one of about `n` points; "gauss" is an
        integration rule, exact for polynomials of degree `order` wherever these can be integrated
        exactly. All but "gauss" have equal weights. `seed` shifts the low-discrepancy points
        (0: no shift) and draws the random ones.
        """
        checks.rule_arguments(rule, n=n, per_axis=per_axis, order=order)
        seed = checks.whole(seed, "seed", 0, 2**63)
        if rule == "gauss":
            return Points(*self._gauss(_order(order)))
        if rule == "uniform":
            x = self._clipped_grid(n, per_axis)
        else:
            n = checks.whole(n, "n", 1)
            if rule == "random":
                x = self._drawn(sequences.random, n, seed)
            else:
                x = self._covering(n, seed)
        return Points(x, np.full(len(x), self.measure / len(x)))

    @final
    def boundary(
        self,
        segment: str,
        n: int | None = None,
        *,
        rule: str = "uniform",
        order: int | None = None,
        seed: int = 0,
    ) -> BoundaryPoints:
        """Points on one segment Γ with outward unit normals and weights of sum |Γ|.

        "uniform" is equispaced by arc length and keeps off the corners; on the flat faces of a box
        it is a grid of about `n` points. The other rules are as for `interior`. An end of an
        interval is a single point of weight one, whatever `n`.
        """
        pieces = self._segment(segment)
        n = 1 if self.dim == 1 and n is None and rule != "gauss" else n
        checks.rule_arguments(rule, n=n, order=order)
        seed = checks.whole(seed, "seed", 0, 2**63)
        if rule == "gauss":
            parts = []
            for face in pieces:
                s, weights = face.gauss(_order(order))
                x, normal = face.place(s)
                parts.append((x, face.measure * weights, normal))
            x, weights, normal = map(np.concatenate, zip(*parts, strict=True))
            return BoundaryPoints(x, weights, normal, segment)
        n = checks.whole(n, "n", 1)
        if rule == "uniform":
            s = faces.uniform(pieces, n)
        else:
            draw = sequences.random if rule == "random" else sequences.low_discrepancy
            s = draw(1 if self.dim == 1 else n, self.dim - 1, seed)
        x, normal = faces.place(pieces, s)
        weights = np.full(len(x), self.segment_measure(segment) / len(x))
        return BoundaryPoints(x, weights, normal, segment)

    @final
    def with_parts(self, **parts: tuple[str, Any]) -> "Domain":
        """The same set with names for parts of its segments, on a line or in the plane.

        `radiator=("left", lambda x: x[1] < 0.5)` calls "radiator" what of the segment left fulfils
        the rule, a function of one point; `radiator=("left", (0.0, 0.5))` names two fractions of
        the segment's length, along an axis or anticlockwise. The rest of left keeps its name, if
        there is a rest. Where a rule changes is found to round-off, unless it changes twice within
        a thousandth of the segment.
        """
        # The result is a domain itself, so domains look its module up by name.
        return importlib.import_module("tengbc.geometry.parts").divided(self, parts)

    @final
    def with_regions(self, rest: str = "rest", **regions: "Domain") -> "Domain":
        """The same set, divided into named regions, on a line or in the plane.

        `core=tb.Disk(0.3, (0.5, 0.5))` calls "core" what lies in the disk, which must lie in this
        domain as a whole. Regions may touch each other and the boundary, but not overlap. What none
        of them takes is the region `rest`. Where two meet is an interface: "core|rest".
        """
        module = importlib.import_module("tengbc.geometry.regions")
        return module.Regioned(self, tuple(regions.items()), rest)

    @final
    def segment_measure(self, segment: str) -> float:
        """The measure |Γ| of a segment: one for a point, else its length, area, …"""
        return float(sum(face.measure for face in self._segment(segment)))

    @final
    def contains(self, x: ArrayLike, tolerance: float = 1e-12) -> Bool[Array, " n"]:
        """Which points (n, d) lie in the closed domain, up to `tolerance` × its size; NaN never."""
        points = checks.coordinates(x, self.dim)
        known = np.isfinite(points).all(axis=1)
        inside = np.zeros(len(points), dtype=bool)
        inside[known] = self._inside(points[known], self._margin(tolerance))
        return inside

    @final
    def evaluation_grid(self, per_axis: int = 101) -> Float[Array, "n d"]:
        """A grid over the bounding box, its ends included, clipped to the closed domain.

        It is what errors are measured on. A periodic box leaves out its upper end, which is the
        same place as the lower one.
        """
        count = checks.whole(per_axis, "per_axis", 2)
        axes = [
            np.linspace(low, high, count, endpoint=not self.periodic)
            for low, high in zip(*self.bounds, strict=True)
        ]
        x = grids.tensor(axes)
        return x[self.contains(x)]

    @final
    def outline(self, n: int = 200) -> list[tuple[str, Float[Array, "k 2"]]]:
        """Polylines to draw a plane domain, about n points for each segment."""
        if self.dim != 2:
            raise UsageError(
                f"Only a plane domain has an outline, and this one has dimension {self.dim}; "
                "draw its boundary points instead."
            )
        n = checks.whole(n, "n", 2)
        lines = []
        for segment in self.segments:
            for face in self._faces(segment):
                count = max(2, round(n * face.measure / self.segment_measure(segment)))
                lines.append((segment, face.place(np.linspace(0.0, 1.0, count)[:, None])[0]))
        return lines

    def describe(self) -> str:
        """One line: the domain, its measure and its segments."""
        kind = {1: "length", 2: "area", 3: "volume"}.get(self.dim, "measure")
        names = ", ".join(self.segments[:6]) or "none (periodic)"
        names += f" and {len(self.segments) - 6} more" if len(self.segments) > 6 else ""
        return f"{self!r}: {kind} {self.measure:.6g}, segments {names}"

    def _segment(self, segment: str) -> tuple[Face, ...]:
        if segment not in self.segments:
            known = (
                f"choose one of {checks.listed(self.segments)}"
                if self.segments
                else "it is periodic and has no boundary"
            )
            raise UsageError(f"{type(self).__name__} has no boundary segment {segment!r}; {known}.")
        return self._faces(segment)

    def _margin(self, tolerance: float) -> float:
        # Coordinates far from the origin carry rounding errors of their own magnitude.
        rounding = 4 * np.finfo(float).eps * float(np.abs(self.bounds).max())
        return tolerance * self.scale + rounding

    @property
    def _share(self) -> float:
        """The part of its bounding box that the domain fills."""
        lower, upper = self.bounds
        return self.measure / float(np.prod(upper - lower))

    def _drawn(self, draw: Callable[..., Array], n: int, seed: int) -> Float[Array, "n d"]:
        """Points of a sequence in the cube, carried over by `_spread` or, without it, rejected."""
        x = self._spread(draw(n, self.dim, seed))
        return self._rejected(draw, n, seed) if x is None else x

    def _rejected(self, draw: Callable[..., Array], n: int, seed: int) -> Float[Array, "n d"]:
        """The first n points of a sequence in the bounding box that lie inside."""
        (lower, upper), share, margin = self.bounds, self._share, self._margin(1e-12)
        kept, found, tried = [], 0, 0
        while found < n:
            batch = ceil(1.05 * (n - found) / share) + 16
            x = lower + draw(batch, self.dim, seed, start=tried) * (upper - lower)
            kept.append(x[self._inside(x, -margin)])
            found, tried = found + len(kept[-1]), tried + batch
            if tried > HOPELESS * (found + 1) / share:
                raise ProblemError(
                    f"Of {tried} points in the domain's bounds {found} lie inside, far fewer than "
                    f"its measure promises; correct its bounds, its measure or its _inside."
                )
        return np.concatenate(kept)[:n]

    def _clipped_grid(self, n: int | None, per_axis: int | None) -> Float[Array, "n d"]:
        lower, upper = self.bounds
        if per_axis is None:
            n = checks.whole(n, "n", 1)
            counts = grids.counts_for(n, list(upper - lower), self.measure)
        else:
            counts = [checks.whole(per_axis, "per_axis", 1)] * self.dim
        x = grids.cell_centres(lower, upper, counts)
        x = x[self._inside(x, -self._margin(1e-12))]
        if not len(x):
            raise UsageError(
                f"A uniform grid of {' x '.join(map(str, counts))} cells has no centre inside "
                "the domain; take more points or the rule 'low-discrepancy'."
            )
        return x


def _order(order: int | None) -> int:
    return DEFAULT_ORDER if order is None else checks.whole(order, "order", 0, 400)
