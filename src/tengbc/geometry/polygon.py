"""The polygon, with holes if wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks, faces, sequences, triangles
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

    Segments are edge0, edge1, … (edge k starts at vertex k) and hole0, hole1, … (one for each
    ring). `names` renames the outer edges; edges of the same name form one segment.
    """

    vertices: Ring
    holes: Sequence[Ring] = ()
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vertices = _ring(self.vertices, "Polygon")
        holes = tuple(
            _ring(hole, f"hole{index}")
            for index, hole in enumerate(checks.sequence(self.holes, "holes"))
        )
        reserved = [f"hole{index}" for index in range(len(holes))]
        names = _edge_names(self.names, len(vertices), reserved)
        checks.assign(self, vertices=vertices, holes=holes, names=names)
        import shapely

        if not self._shape.is_valid:
            # shapely says what is wrong and, in brackets and our shifted coordinates, where.
            reason = shapely.is_valid_reason(self._shape).split("[")[0].lower()
            raise ProblemError(
                f"The polygon is not valid ({reason}); its edges must not cross, and its holes "
                "must lie inside it and apart from each other."
            )

    def __repr__(self) -> str:
        return f"Polygon(vertices={len(self.vertices)}, holes={len(self.holes)})"

    @cached_property
    def _origin(self) -> Float[np.ndarray, " 2"]:
        """A reference point: shapely works relative to it, precise wherever the polygon lies."""
        return np.array(self.vertices[0])

    @cached_property
    def _shape(self) -> Any:
        import shapely

        outer, *holes = (np.array(ring) - self._origin for ring in (self.vertices, *self.holes))
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
    def _chains(self) -> dict[str, tuple[Face, ...]]:
        """The edges of each segment."""
        chains: dict[str, tuple[Face, ...]] = {}
        outline = _edges(self.vertices, 1.0)  # pyright: ignore[reportArgumentType]
        for name, edge in zip(self.names or (), outline, strict=True):
            chains[name] = (*chains.get(name, ()), edge)
        for index, hole in enumerate(self.holes):
            chains[f"hole{index}"] = tuple(_edges(hole, -1.0))  # pyright: ignore[reportArgumentType]
        return chains

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self._chains)

    @property
    def measure(self) -> float:
        return float(self._shape.area)

    @property
    def bounds(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        corners = np.array(self.vertices)
        return corners.min(axis=0), corners.max(axis=0)

    def _inside(self, x: Float[np.ndarray, "n 2"], margin: float) -> Bool[np.ndarray, " n"]:
        import shapely

        x = x - self._origin
        inside = shapely.contains_xy(self._shape, x[:, 0], x[:, 1])
        # What is left to decide lies near the edges: outside if margin ≥ 0, else inside.
        open_question = ~inside if margin >= 0 else inside.copy()
        near = shapely.dwithin(self._rim, shapely.points(x[open_question]), abs(margin))
        inside[open_question] = near if margin >= 0 else ~near
        return inside

    def _spread(self, u: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        return self._origin + triangles.spread(self._triangles, u)

    def _covering(self, n: int, seed: int) -> Float[np.ndarray, "n 2"]:
        if self._share < THIN:
            return super()._covering(n, seed)
        return self._rejected(sequences.low_discrepancy, n, seed)

    def _gauss(self, order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
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
