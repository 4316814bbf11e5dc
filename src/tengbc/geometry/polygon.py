"""The polygon, with holes if wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks, curved, faces, sequences, triangles
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

# shapely is imported where it is used, so that the other domains do not wait for it.

THIN = 0.02  # a polygon that fills less of its bounding box is not sampled by rejection
Vertices = tuple[tuple[float, ...], ...]
Ring = Sequence[Sequence[float]] | np.ndarray


@final
@dataclass(frozen=True, repr=False)
class Polygon(Domain):
    """The area enclosed by `vertices`, in either orientation, less the `holes`.

    A hole is a list of vertices too, or a plane domain bounded by one closed curve, such as a
    `Disk`. Segments are edge0, edge1, … (edge k starts at vertex k) and hole0, hole1, … (one for
    each hole). `names` renames the outer edges; edges of the same name form one segment.
    """

    vertices: Ring
    holes: Sequence[Ring | Domain] = ()
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vertices = _ring(self.vertices, "Polygon")
        holes = tuple(
            hole if isinstance(hole, Domain) else _ring(hole, f"hole{index}")
            for index, hole in enumerate(checks.sequence(self.holes, "holes"))
        )
        reserved = [f"hole{index}" for index in range(len(holes))]
        names = _edge_names(self.names, len(vertices), reserved)
        checks.assign(self, vertices=vertices, holes=holes, names=names)
        self._check()

    def _check(self) -> None:
        """Edges that cross, and holes outside, across or against an edge, or a ProblemError."""
        import shapely

        cuts = curved.cuts(self._rings, curved.FINE)
        rings = [
            shapely.LinearRing(curved.corners(ring, where) - self._origin)
            for ring, where in zip(self._rings, cuts, strict=True)
        ]
        shape = shapely.Polygon(rings[0], rings[1:])
        if not shape.is_valid:
            # shapely says what is wrong and, in brackets and our shifted coordinates, where.
            reason = shapely.is_valid_reason(shape).split("[")[0].lower()
            raise ProblemError(
                f"The polygon is not valid ({reason}); its edges must not cross, and its holes "
                "must lie inside it and apart from each other."
            )
        shapely.prepare(rings)
        heights = [curved.height(*pair) for pair in zip(self._rings, cuts, strict=True)]
        for first, second in combinations(range(len(rings)), 2):
            reach = 1e-12 * self.scale + heights[first] + heights[second]
            if shapely.dwithin(rings[first], rings[second], reach):
                other = f"hole{first - 1}" if first else "the outer edge"
                raise ProblemError(
                    f"hole{second - 1} touches {other}, or all but touches it, where the domain "
                    "has no width; move the hole or make it smaller."
                )

    def __repr__(self) -> str:
        return f"Polygon(vertices={len(self.vertices)}, holes={len(self.holes)})"

    @cached_property
    def _origin(self) -> Float[np.ndarray, " 2"]:
        """A reference point: shapely works relative to it, precise wherever the polygon lies."""
        return np.array(self.vertices[0])

    @cached_property
    def _rings(self) -> list[tuple[Face, ...]]:
        """The edges of the outline, then those of each hole, head to tail."""
        outline = _edges(self.vertices, 1.0)  # pyright: ignore[reportArgumentType]
        rings = [
            _hole(hole, f"hole{index}") if isinstance(hole, Domain) else tuple(_edges(hole, -1.0))  # pyright: ignore[reportArgumentType]
            for index, hole in enumerate(self.holes)
        ]
        return [tuple(outline), *rings]

    @cached_property
    def _round(self) -> list[Domain]:
        """The holes with curved edges."""
        pairs = zip(self.holes, self._rings[1:], strict=True)
        curved = ((hole, ring) for hole, ring in pairs if isinstance(hole, Domain))
        return [hole for hole, ring in curved if not all(face.straight for face in ring)]

    @cached_property
    def _shape(self) -> Any:
        """The polygon without its round holes."""
        import shapely

        rings = [ring for ring in self._rings if all(face.straight for face in ring)]
        corners = [np.array([faces.ends(face)[0] for face in ring]) for ring in rings]
        outer, *holes = (ring - self._origin for ring in corners)
        shape = shapely.Polygon(outer, holes)
        shapely.prepare(shape)
        return shape

    @cached_property
    def _rim(self) -> Any:
        import shapely

        shapely.prepare(rim := self._shape.boundary)
        return rim

    @cached_property
    def _triangles(self) -> Float[np.ndarray, "t 3 2"]:
        import shapely

        parts = shapely.get_parts(shapely.constrained_delaunay_triangles(self._shape))
        return shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3]

    @cached_property
    def _cells(self) -> curved.Cells | None:
        return curved.fill(self._rings, self._origin)

    @cached_property
    def _chains(self) -> dict[str, tuple[Face, ...]]:
        """The edges of each segment."""
        chains: dict[str, tuple[Face, ...]] = {}
        outline, *holes = self._rings
        for name, edge in zip(self.names or (), outline, strict=True):
            chains[name] = (*chains.get(name, ()), edge)
        return chains | {f"hole{index}": ring for index, ring in enumerate(holes)}

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self._chains)

    @property
    def measure(self) -> float:
        return float(self._shape.area) - sum(hole.measure for hole in self._round)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        corners = np.array(self.vertices)
        return corners.min(axis=0), corners.max(axis=0)

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        import shapely

        in_hole = [hole._inside(x, -margin) for hole in self._round]
        x = x - self._origin
        inside = shapely.contains_xy(self._shape, x[:, 0], x[:, 1])
        # What is left to decide lies near the edges: outside if margin ≥ 0, else inside.
        open_question = ~inside if margin >= 0 else inside.copy()
        near = shapely.dwithin(self._rim, shapely.points(x[open_question]), abs(margin))
        inside[open_question] = near if margin >= 0 else ~near
        return inside & ~np.any(in_hole, axis=0) if in_hole else inside

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"] | None:
        if self._round:
            return None
        return self._origin + triangles.spread(self._triangles, u)

    def _covering(self, n: int, seed: int) -> Float[np.ndarray, "n 2"]:
        if self._share < THIN:
            return super()._covering(n, seed)
        return self._rejected(sequences.low_discrepancy, n, seed)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
        if self._round:
            return self._cells.gauss(order) if self._cells else super()._gauss(order)
        x, weights = triangles.gauss(self._triangles, order)
        return self._origin + x, weights

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return self._chains[segment]


def _ring(vertices: Any, name: str) -> Vertices:
    """Vertices of a ring, without a repeated last one, or a ProblemError."""
    points = tuple(
        checks.vector(vertex, f"vertex {index} of {name}", dim=2)
        for index, vertex in enumerate(checks.sequence(vertices, f"The vertices of {name}"))
    )
    if len(points) > 1 and points[0] == points[-1]:
        points = points[:-1]
    if len(points) < 3:
        raise ProblemError(
            f"{name} needs three or more vertices (x, y) to enclose an area, not {len(points)}."
        )
    for index, point in enumerate(points):
        if point == points[index - 1]:
            raise ProblemError(f"{name} has the vertex {point} twice in a row; remove one of them.")
    length, breadth = np.linalg.svd(np.array(points) - np.mean(points, axis=0), compute_uv=False)
    if breadth <= 1e-13 * length:
        raise ProblemError(f"{name} has zero area; its vertices must not lie on one line.")
    return points


def _hole(domain: Domain, name: str) -> tuple[Face, ...]:
    """The boundary of a domain as that of a hole, or a ProblemError."""
    plane = domain.dim == 2
    pieces = [face for segment in domain.segments for face in domain._faces(segment)]
    ring = faces.loop(pieces, domain.scale) if plane else None
    if ring is None:
        raise ProblemError(
            f"{name} is {domain!r}, which is not bounded by one closed curve in the plane; give a "
            "domain without holes, such as Disk, or a list of vertices."
        )
    return tuple(faces.seen_from_outside(face) for face in ring)


def _edges(vertices: Vertices, outward: float) -> list[Face]:
    """Edge k from vertex k to the next; `outward` is 1 for an outline and −1 for a hole."""
    corners = np.array(vertices)
    # The shoelace formula, relative to a vertex: no cancellation far away.
    x, y = (corners - corners[0]).T
    twice_area = np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)
    # To the right of an anticlockwise edge, where the area is positive, lies the outside.
    side = outward * np.sign(twice_area)
    sides: Float[np.ndarray, "n 2"] = np.roll(corners, -1, axis=0) - corners
    normals = side * sides[:, ::-1] * [1.0, -1.0] / np.linalg.norm(sides, axis=1)[:, None]
    return [
        faces.flat(corner, edge[None, :], normal)
        for corner, edge, normal in zip(corners, sides, normals, strict=True)
    ]


def _edge_names(names: Any, count: int, reserved: Sequence[str]) -> tuple[str, ...]:
    """One name for each outer edge, by default edge0, edge1, …, or a ProblemError."""
    if names is None:
        return tuple(f"edge{index}" for index in range(count))
    chosen = checks.sequence(names, "names")
    if len(chosen) != count or not all(isinstance(name, str) and name for name in chosen):
        raise ProblemError(
            f"names must hold one name for each of the {count} outer edges, not {names!r}."
        )
    taken = [name for name in chosen if name in reserved]
    if taken:
        raise ProblemError(f"The name {taken[0]!r} belongs to a hole; give the edge another name.")
    return chosen
