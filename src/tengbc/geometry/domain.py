"""What every domain can do: points inside, points on named boundary segments, membership."""

import abc
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from tengbc.errors import UsageError
from tengbc.geometry import checks, faces, grids, sequences
from tengbc.geometry.faces import Face
from tengbc.geometry.points import BoundaryPoints, Points

DEFAULT_ORDER = 20
Array = np.ndarray


class Domain(abc.ABC):
    """A bounded domain Ω with a boundary of named segments.

    A domain of one's own gives its `segments`, `measure` and `bounds`, and five maps: `_inside`,
    `_spread`, `_covering`, `_gauss` and `_faces`. All the rest follows from them.
    """

    periodic: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def segments(self) -> tuple[str, ...]:
        """Names of the boundary segments."""

    @property
    @abc.abstractmethod
    def measure(self) -> float:
        """Length, area or volume |Ω|."""

    @property
    @abc.abstractmethod
    def bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        """Lower and upper corner of the bounding box."""

    @abc.abstractmethod
    def _inside(self, x: Float[Array, "n d"], margin: float) -> Bool[Array, " n"]:
        """Points no farther outside than `margin`; a negative margin asks for that depth inside."""

    @abc.abstractmethod
    def _spread(self, u: Float[Array, "n d"]) -> Float[Array, "n d"]:
        """A map of the unit cube onto the domain that preserves the measure."""

    @abc.abstractmethod
    def _covering(self, n: int, seed: int) -> Float[Array, "n d"]:
        """Exactly n evenly spread points."""

    @abc.abstractmethod
    def _gauss(self, order: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        """Nodes and positive weights of an integration rule."""

    @abc.abstractmethod
    def _faces(self, segment: str) -> tuple[Face, ...]:
        """The smooth pieces of a segment."""

    @property
    def dim(self) -> int:
        """Dimension of the space."""
        return len(self.bounds[0])

    @property
    def radius(self) -> float:
        """The size of the domain: its radius if it is round, else half the diagonal of its box."""
        lower, upper = self.bounds
        return float(np.linalg.norm(upper - lower)) / 2

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
                x = self._spread(sequences.random(n, self.dim, seed))
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
            rules = [face.gauss(_order(order)) for face in pieces]
            placed = [face.place(s) for face, (s, _) in zip(pieces, rules, strict=True)]
            return BoundaryPoints(
                np.concatenate([x for x, _ in placed]),
                np.concatenate(
                    [face.measure * w for face, (_, w) in zip(pieces, rules, strict=True)]
                ),
                np.concatenate([normal for _, normal in placed]),
                segment,
            )
        n = checks.whole(n, "n", 1)
        if rule == "uniform":
            s = faces.uniform(pieces, n)
        else:
            draw = sequences.random if rule == "random" else sequences.low_discrepancy
            s = draw(1 if self.dim == 1 else n, self.dim - 1, seed)
        x, normal = faces.place(pieces, s)
        return BoundaryPoints(x, np.full(len(x), self.length(segment) / len(x)), normal, segment)

    @final
    def length(self, segment: str) -> float:
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
                count = max(2, round(n * face.measure / self.length(segment)))
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
        return tolerance * self.radius + rounding

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
