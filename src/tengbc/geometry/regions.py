"""A domain that is divided into named regions, and the interfaces at which they meet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.errors import ProblemError, UsageError
from tengbc.geometry import checks, curved, faces, quadrature
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face
from tengbc.geometry.points import BoundaryPoints

Array = np.ndarray
NEAR = 1e-9
"""What is nearer than this part of the domain's size counts as the same place."""
OFF = 1e-6
"""A point this part of the domain's size off a curve tells what lies beside it."""
TRIED = 400
"""Points of each region that are looked at, whether they lie where they should."""
SAMPLES = 257


@final
@dataclass(frozen=True, repr=False)
class Regioned(Domain):
    """The same set as `domain`, divided into named `regions` and what is left: see `with_regions`.

    A region is a name and a domain that lies in this one. The segments are those of `domain`.
    """

    domain: Domain
    regions: Sequence[Sequence[Any]]
    rest: str = "rest"

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain) or self.domain.periodic or self.domain.dim > 2:
            raise ProblemError(
                f"{self.domain!r} has no regions, for only an interval or a plane domain with a "
                "boundary has; let the coefficients of the equation depend on x."
            )
        if self.domain.region_names:
            raise ProblemError(f"{self.domain!r} has regions already; name all of them at once.")
        given = checks.sequence(self.regions, "regions")
        checks.assign(self, regions=tuple((name, region) for name, region in given))
        names = [name for name, _ in self.regions]
        for name, region in self.regions:
            if not isinstance(region, Domain) or region.dim != self.dim or region.periodic:
                raise ProblemError(
                    f"The region {name!r} is {region!r}, but it must be a domain of dimension "
                    f"{self.dim} with a boundary, such as "
                    f"{'tb.Disk(0.3, (0.5, 0.5))' if self.dim == 2 else 'tb.Interval(0.0, 0.5)'}."
                )
            if not isinstance(name, str) or not name or "|" in name:
                raise ProblemError(f"{name!r} is no name of a region; give a text without '|'.")
            if name == self.rest or names.count(name) > 1:
                raise ProblemError(
                    f"There are two regions {name!r} (what is left is {self.rest!r}); choose "
                    f"another name, or call what is left by another: with_regions(rest=…)."
                )
        if not names:
            raise ProblemError("There are no regions; name one, such as core=tb.Disk(0.3).")
        self._check_places()

    def _check_places(self) -> None:
        """Regions that leave the domain or overlap, or a ProblemError."""
        inside = OFF * self.scale
        for name, region in self.regions:
            x = region.interior(TRIED).x
            if not self.domain._inside(x, inside).all() or not self._bounds_hold(region):
                raise ProblemError(
                    f"The region {name!r} ({region!r}) leaves the domain {self.domain!r}; make it "
                    "smaller or move it."
                )
        for (name, region), (other, second) in combinations(self.regions, 2):
            pairs = ((region, second), (second, region))
            if any(b._inside(a.interior(TRIED).x, -inside).any() for a, b in pairs):
                raise ProblemError(
                    f"The regions {name!r} and {other!r} overlap; make them smaller or move them."
                )
        for part in self.parts:
            closed = part.measure_by_outline
            if abs(closed - part.measure) > 1e-6 * self.domain.measure:
                raise ProblemError(
                    f"The outline of the region {part.name!r} encloses {closed:.6g}, but it "
                    f"measures {part.measure:.6g}: regions overlap, or cross the boundary; let "
                    "them touch along whole curves, or keep them apart."
                )

    def _bounds_hold(self, region: Domain) -> bool:
        near = NEAR * self.scale
        (lower, upper), (low, high) = self.domain.bounds, region.bounds
        return bool((low >= lower - near).all() and (high <= upper + near).all())

    def __repr__(self) -> str:
        return f"Regioned({self.domain!r}, {', '.join(self.region_names)})"

    # What the regions are.

    @cached_property
    def region_names(self) -> tuple[str, ...]:
        """The names of all regions, what is left last, if anything is."""
        named = sum(region.measure for _, region in self.regions)
        left = [self.rest] if self.domain.measure - named > NEAR * self.domain.measure else []
        return tuple(name for name, _ in self.regions) + tuple(left)

    @cached_property
    def interfaces(self) -> tuple[str, ...]:
        """Where two regions meet: "core|rest", in the order of the regions."""
        found = {name for part in self.parts for name in part.segments if "|" in name}
        pairs = (f"{first}|{second}" for first, second in combinations(self.region_names, 2))
        return tuple(name for name in pairs if name in found)

    def interface(self, name: str) -> str:
        """The interface of that name, in either order of its regions, or an error."""
        first, _, second = name.partition("|")
        for known in (name, f"{second}|{first}"):
            if known in self.interfaces:
                return known
        raise UsageError(
            f"There is no interface {name!r}; the interfaces are: {', '.join(self.interfaces)}."
        )

    def interface_points(
        self, name: str, n: int | None = None, *, rule: str = "uniform", order: int | None = None
    ) -> BoundaryPoints:
        """Points where two regions meet; normals point from the first into the second."""
        first = self.interface(name).split("|")[0]
        part = self.parts[self.region_names.index(first)]
        points = part.boundary(self.interface(name), n, rule=rule, order=order)
        if name in self.interfaces:
            return points
        return BoundaryPoints(points.x, points.w, -points.normal, name)

    def region_of(self, x: Float[Array, "n d"]) -> Int[Array, " n"]:
        """The number of the region that each point lies in; on an interface, of the first."""
        found, near = np.full(len(x), len(self.region_names) - 1), 1e-12 * self.scale
        for k in reversed(range(len(self.regions))):
            found[self.regions[k][1]._inside(x, near)] = k
        return found

    @cached_property
    def parts(self) -> tuple["Region", ...]:
        """Each region as a domain of its own."""
        sides = list(self._pieces())
        return tuple(
            Region(self, k, name, [(label, face) for n, label, face in sides if n == k])
            for k, name in enumerate(self.region_names)
        )

    def _pieces(self) -> Iterator[tuple[int, str, Face]]:
        """(region, segment or interface, face): all that bounds a region, normals outward."""
        named = [
            (k, face)
            for k, (_, region) in enumerate(self.regions)
            for segment in region.segments
            for face in region._faces(segment)
        ]
        outer = [(s, face) for s in self.domain.segments for face in self.domain._faces(s)]
        ends = np.concatenate([_ends(face) for _, face in (*named, *outer)])
        off = OFF * self.scale
        for segment, face in outer:
            for piece in _divided(face, ends, self.scale):
                x, normal = _middle(piece)
                yield int(self.region_of(x - off * normal)[0]), segment, piece
        for k, face in named:
            for piece in _divided(face, ends, self.scale):
                x, normal = _middle(piece)
                beyond = x + off * normal
                if not self.domain._inside(beyond, 0.0)[0]:
                    continue  # a part of the boundary
                other = int(self.region_of(beyond)[0])
                if other > k:  # else the other region's curve counts, once for both
                    label = f"{self.region_names[k]}|{self.region_names[other]}"
                    yield k, label, piece
                    yield other, label, faces.seen_from_outside(piece)

    # The set itself.

    @property
    def segments(self) -> tuple[str, ...]:
        return self.domain.segments

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return self.domain._faces(segment)

    @property
    def bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        return self.domain.bounds

    @property
    def measure(self) -> float:
        return self.domain.measure

    @property
    def scale(self) -> float:
        return self.domain.scale

    @property
    def fills_box(self) -> bool:
        return self.domain.fills_box

    def _inside(self, x: Float[Array, "n d"], margin: float) -> Bool[Array, " n"]:
        return self.domain._inside(x, margin)

    def _spread(self, u: Float[Array, "n d"]) -> Float[Array, "n d"] | None:
        return self.domain._spread(u)

    def _covering(self, n: int, seed: int) -> Float[Array, "n d"]:
        return self.domain._covering(n, seed)

    def _gauss(self, order: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        """Rules of the regions one after the other: what is integrated may jump between them."""
        parts = [part._gauss(order) for part in self.parts]
        return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])

    def describe(self) -> str:
        areas = ", ".join(f"{part.name} {part.measure:.4g}" for part in self.parts)
        return f"{self.domain.describe()}; regions {areas}"


@final
class Region(Domain):
    """A region of a domain; its segments are parts of the boundary, and interfaces."""

    def __init__(self, whole: Regioned, number: int, name: str, pieces: list[tuple[str, Face]]):
        self.whole, self.number, self.name = whole, number, name
        self.set = whole.regions[number][1] if number < len(whole.regions) else None
        """The domain that was given for it; None for what is left."""
        self._chains: dict[str, tuple[Face, ...]] = {}
        for label, face in pieces:
            self._chains[label] = (*self._chains.get(label, ()), face)

    def __repr__(self) -> str:
        return f"Region({self.name!r} of {self.whole!r})"

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self._chains)

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return self._chains[segment]

    @cached_property
    def bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        if self.set is not None:
            return self.set.bounds
        s = np.linspace(0.0, 1.0, SAMPLES)[:, None] if self.whole.dim == 2 else np.zeros((1, 0))
        x = np.concatenate([face.place(s)[0] for chain in self._chains.values() for face in chain])
        # A curve may pass a little beyond the points on it.
        more = 1e-3 * self.whole.scale if self.whole.dim == 2 else 0.0
        lower, upper = self.whole.bounds
        return np.maximum(x.min(axis=0) - more, lower), np.minimum(x.max(axis=0) + more, upper)

    @property
    def measure(self) -> float:
        if self.set is not None:
            return self.set.measure
        return self.whole.measure - sum(region.measure for _, region in self.whole.regions)

    @property
    def measure_by_outline(self) -> float:
        """(1/d)·∮ x·n over all that bounds it."""
        return Domain.measure.fget(self)  # pyright: ignore[reportOptionalCall]

    @property
    def has_rule(self) -> bool:
        """Whether its integration rule is one of its own, exact up to its order."""
        return self.set is not None

    def _inside(self, x: Float[Array, "n d"], margin: float) -> Bool[Array, " n"]:
        if self.set is not None:
            return self.set._inside(x, margin)
        taken = [region._inside(x, -margin) for _, region in self.whole.regions]
        return self.whole._inside(x, margin) & ~np.any(taken, axis=0)

    def _spread(self, u: Float[Array, "n d"]) -> Float[Array, "n d"] | None:
        return None if self.set is None else self.set._spread(u)

    def _gauss(self, order: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        if self.set is not None:
            return self.set._gauss(order)
        if self.dim == 1:
            ends = sorted(face.place(np.zeros((1, 0)))[0][0, 0] for face in self._all)
            spans = [
                _interval_rule(a, b, order) for a, b in zip(ends[::2], ends[1::2], strict=True)
            ]
            return np.concatenate([x for x, _ in spans]), np.concatenate([w for _, w in spans])
        if self._cells is None:
            return super()._gauss(order)
        parts = [cells.gauss(order) for cells in self._cells]
        return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])

    @cached_property
    def _cells(self) -> list[curved.Cells] | None:
        """Triangles with curved sides that fill what is left, piece by piece; None: unknown."""
        import shapely

        rings = _rings(self._all, self.whole.scale)
        if rings is None:
            return None
        areas = [sum(float(w @ np.sum(x * n, axis=1)) for x, n, w in map(_rim, r)) for r in rings]
        filled = []
        for outer, area in zip(rings, areas, strict=True):
            if area < 0:
                continue
            shape = shapely.Polygon(curved.corners(outer, curved.cuts([outer], curved.FINE)[0]))
            holes = [
                ring
                for ring, other in zip(rings, areas, strict=True)
                if other < 0 and shape.covers(shapely.Point(_middle(ring[0])[0][0]))
            ]
            filled.append(curved.fill([outer, *holes], _ends(outer[0])[0]))
        if None in filled:
            return None
        whole = sum(float(cells.gauss(2)[1].sum()) for cells in filled if cells is not None)
        close = abs(whole - self.measure) < 1e-9 * self.whole.measure
        return [cells for cells in filled if cells is not None] if close else None

    @property
    def _all(self) -> list[Face]:
        return [face for chain in self._chains.values() for face in chain]


def _interval_rule(start: float, end: float, order: int) -> tuple[Array, Array]:
    s, w = quadrature.interval(order)
    return (start + s * (end - start))[:, None], w * (end - start)


def _rings(pieces: Sequence[Face], size: float) -> list[tuple[Face, ...]] | None:
    """Curves as closed ones, head to tail; None where more than two of them meet."""
    left, rings = list(pieces), []
    while left:
        ring = [left.pop(0)]
        start, end = faces.ends(ring[0])
        while np.linalg.norm(end - start) > NEAR * size:
            ends = [faces.ends(face) for face in left]
            near = [np.linalg.norm(pair - end, axis=1).min() <= NEAR * size for pair in ends]
            if near.count(True) != 1:
                return None
            face, pair = left.pop(near.index(True)), ends[near.index(True)]
            ahead = np.linalg.norm(pair[0] - end) <= NEAR * size
            ring.append(face if ahead else faces.part(face, 1.0, 0.0))
            end = pair[1] if ahead else pair[0]
        rings.append(tuple(ring))
    return rings


def _rim(face: Face) -> tuple[Array, Array, Array]:
    """Points of a curve with normals and weights."""
    s, w = face.gauss(20)
    return *face.place(s), w * face.measure


def _ends(face: Face) -> Float[Array, "k d"]:
    """Where a curve begins and ends; a point is both."""
    x = face.place(np.zeros((1, 0)))[0] if _is_point(face) else faces.ends(face)
    return x


def _is_point(face: Face) -> bool:
    return face.straight and len(face.gauss(1)[0][0]) == 0


def _middle(face: Face) -> tuple[Float[Array, "1 d"], Float[Array, "1 d"]]:
    """A point of a curve and the normal there."""
    return face.place(np.zeros((1, 0)) if _is_point(face) else np.array([[0.5]]))


def _divided(face: Face, points: Float[Array, "k d"], scale: float) -> list[Face]:
    """A curve, cut at those points that lie on it."""
    if _is_point(face):
        return [face]
    s = np.linspace(0.0, 1.0, SAMPLES)
    x, _ = face.place(s[:, None])
    near, cuts = NEAR * scale, [0.0, 1.0]
    for point in points:
        apart = np.linalg.norm(x - point, axis=1)
        if apart.min() <= face.measure / SAMPLES:
            found = _foot(face, point, float(s[np.argmin(apart)]))
            there = face.place(np.array([[found]]))[0][0]
            alone = min(abs(found - cut) for cut in cuts) * face.measure > near
            if alone and np.linalg.norm(there - point) <= near:
                cuts.append(found)
    if len(cuts) == 2:
        return [face]
    return [faces.part(face, a, b) for a, b in pairwise(sorted(cuts))]


def _foot(face: Face, point: Float[Array, " 2"], s: float) -> float:
    """The fraction of a curve's length that is nearest to a point, by Newton's method."""
    for _ in range(8):
        (x,), (normal,) = face.place(np.array([[s]]))
        tangent, step = np.array([-normal[1], normal[0]]), 1e-6
        aside = 1.0 if s < 0.5 else -1.0
        ahead = aside * (face.place(np.array([[s + aside * step]]))[0][0] - x)
        along = float((point - x) @ tangent) * (1.0 if ahead @ tangent > 0 else -1.0)
        s = float(np.clip(s + along / face.measure, 0.0, 1.0))
    return s
