"""Triangles on a polygon with holes.

A lattice of nearly equilateral triangles fills the inside, Delaunay's triangulation joins it to
equispaced points on the edges. Edges it fails to respect are split until it does; a polygon too
intricate for that is cut into triangles along its vertices.
"""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh
from tengbc.evidence.baselines.fem.meshes.refinement import (
    Segment,
    Where,
    curved_triangles,
    halvings,
)
from tengbc.geometry import Polygon

Array = np.ndarray
COARSEST = 10
"""Cells across the coarse mesh from which finer ones are refined."""
CLEARANCE = 0.6
"""Least distance of lattice points from the edges, in cells: nearer ones make flat triangles."""
ROUNDS = 12


def polygon_mesh(domain: Polygon, resolution: int) -> FemMesh:
    """Triangles with sides of about a `resolution`-th of the longer side of the bounding box."""
    lower, upper = domain.bounds
    refinements = halvings(resolution, COARSEST)
    size = float(np.max(upper - lower)) / resolution * 2**refinements
    origin = lower  # shapely and Qhull lose digits far from the origin
    loops = [np.array(ring) - origin for ring in (domain.vertices, *domain.holes)]
    meshed = _lattice_mesh(loops, size)
    if meshed is None:
        meshed = _vertex_mesh(loops)
        refinements += halvings(_longest_side(*meshed), size)
    points, triangles = meshed
    return curved_triangles(points + origin, triangles, refinements, _segments(domain))


def _lattice_mesh(
    loops: list[Float[Array, "_ 2"]], size: float
) -> tuple[Float[Array, "n 2"], Int[Array, "t 3"]] | None:
    from scipy.spatial import Delaunay

    shape = _shape(loops)
    inside = _lattice(shape, size)
    rings = [_divided(loop, size) for loop in loops]
    for _ in range(ROUNDS):
        points = np.concatenate([*rings, inside])
        edges, ring_of = _edges(rings)
        triangles = Delaunay(points).simplices
        triangles = triangles[_kept(shape, points[triangles])]
        missing = ~np.isin(_keys(edges, len(points)), _sides(triangles, len(points)))
        if not missing.any():
            return _used(points, triangles)
        # Halve the edges that Delaunay's triangulation does not contain.
        rings = [_halved(ring, missing[ring_of == i]) for i, ring in enumerate(rings)]
    return None


def _vertex_mesh(
    loops: list[Float[Array, "_ 2"]],
) -> tuple[Float[Array, "n 2"], Int[Array, "t 3"]]:
    """The constrained triangulation of the vertices alone."""
    import shapely

    parts = shapely.get_parts(shapely.constrained_delaunay_triangles(_shape(loops)))
    corners = shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3]
    points, triangles = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
    return points, triangles.reshape(-1, 3)


def _shape(loops: list[Float[Array, "_ 2"]]) -> Any:
    import shapely

    return shapely.Polygon(loops[0], loops[1:])


def _lattice(shape: Any, size: float) -> Float[Array, "n 2"]:
    """Points of a triangular lattice that keep clear of the edges."""
    import shapely

    left, bottom, right, top = shape.bounds
    height = size * np.sqrt(3) / 2
    rows, columns = int((top - bottom) / height) + 2, int((right - left) / size) + 2
    row, column = np.divmod(np.arange(rows * columns), columns)
    x = left + size * (column + 0.5 * (row % 2))
    y = bottom + height * (row + 0.5)
    room = shape.buffer(-CLEARANCE * size)
    return np.stack([x, y], axis=1)[shapely.contains_xy(room, x, y)]


def _divided(loop: Float[Array, "k 2"], size: float) -> Float[Array, "n 2"]:
    """A ring with its edges divided into pieces no longer than `size`."""
    sides = np.roll(loop, -1, axis=0) - loop
    counts = np.maximum(1, np.ceil(np.linalg.norm(sides, axis=1) / size - 1e-9)).astype(int)
    pieces = [
        corner + np.arange(count)[:, None] / count * side
        for corner, side, count in zip(loop, sides, counts, strict=True)
    ]
    return np.concatenate(pieces)


def _halved(ring: Float[Array, "k 2"], chosen: Bool[Array, " k"]) -> Float[Array, "n 2"]:
    """A ring with the midpoints of the chosen edges put in."""
    middles = (ring + np.roll(ring, -1, axis=0)) / 2
    return np.insert(ring, np.flatnonzero(chosen) + 1, middles[chosen], axis=0)


def _edges(rings: list[Float[Array, "_ 2"]]) -> tuple[Int[Array, "n 2"], Int[Array, " n"]]:
    """The edges of all rings as pairs of point numbers, and the ring each belongs to."""
    sizes = [len(ring) for ring in rings]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    pairs = [
        start + np.stack([np.arange(size), (np.arange(size) + 1) % size], axis=1)
        for start, size in zip(starts, sizes, strict=True)
    ]
    return np.concatenate(pairs), np.repeat(np.arange(len(rings)), sizes)


def _keys(pairs: Int[Array, "n 2"], count: int) -> Int[Array, " n"]:
    """One number for each pair, whichever way round."""
    return pairs.min(axis=1).astype(np.int64) * count + pairs.max(axis=1)


def _sides(triangles: Int[Array, "t 3"], count: int) -> Int[Array, " n"]:
    return _keys(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), count)


def _kept(shape: Any, corners: Float[Array, "t 3 2"]) -> Bool[Array, " t"]:
    """Triangles inside the polygon that are not mere rounding along an edge."""
    import shapely

    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2
    sides = corners - np.roll(corners, 1, axis=1)
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    centres = corners.mean(axis=1)
    return (area > 1e-9 * longest**2) & shapely.contains_xy(shape, centres[:, 0], centres[:, 1])


def _used(
    points: Float[Array, "n 2"], triangles: Int[Array, "t 3"]
) -> tuple[Float[Array, "m 2"], Int[Array, "t 3"]]:
    """Only the points that some triangle has."""
    numbers, renumbered = np.unique(triangles, return_inverse=True)
    return points[numbers], renumbered.reshape(-1, 3)


def _longest_side(points: Float[Array, "n 2"], triangles: Int[Array, "t 3"]) -> float:
    corners = points[triangles]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max())


def _segments(domain: Polygon) -> dict[str, Segment]:
    """Each facet belongs to the edge it lies nearest to."""
    starts, ends, names = [], [], []
    hole_names = [[f"hole{index}"] * len(hole) for index, hole in enumerate(domain.holes)]
    for ring, ring_names in zip(
        (domain.vertices, *domain.holes), (domain.names, *hole_names), strict=True
    ):
        corners = np.array(ring)
        starts.append(corners)
        ends.append(np.roll(corners, -1, axis=0))
        names.extend(ring_names or ())
    start, side = np.concatenate(starts), np.concatenate(ends) - np.concatenate(starts)
    owner = np.array(names)

    def nearest(x: Float[Array, "n 2"]) -> Array:
        away = x[:, None] - start
        along = np.einsum("nkd,kd->nk", away, side) / np.einsum("kd,kd->k", side, side)
        gap = away - np.clip(along, 0, 1)[..., None] * side
        return owner[np.argmin(np.einsum("nkd,nkd->nk", gap, gap), axis=1)]

    def of(name: str) -> Where:
        return lambda x: nearest(x) == name

    return {name: Segment(of(name)) for name in domain.segments}
