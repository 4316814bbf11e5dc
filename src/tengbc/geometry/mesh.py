"""Triangles that fill a plane domain up to its true boundary: drawn, exported and computed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.errors import UsageError
from tengbc.geometry import grids
from tengbc.geometry.faces import turn
from tengbc.geometry.triangles import areas

if TYPE_CHECKING:
    from tengbc.geometry.domain import Domain

Array = np.ndarray
Mesh = tuple[Float[Array, "n 2"], Int[Array, "t 3"]]
ROUNDS = 12
WIDEST = np.pi / 6
"""The angle of an arc that one edge of a triangle may stand for, however small the circle."""
CLEARANCE = 0.6
"""Least distance of inner points from the boundary, in cells: nearer ones make flat triangles."""


def triangulate(domain: Domain, across: int | float = 60, *, rim: float = 0.5) -> Mesh:
    """Points and triangles, about `across` cells along the longer side of the bounding box.

    Delaunay's triangulation joins a lattice of equilateral triangles to points of the boundary
    itself, which are `rim` cells apart: with half a cell curves look smooth. Edges of the boundary
    that it does not contain, in narrow parts, are halved until it does.
    """
    if domain.dim != 2:
        raise UsageError(f"Triangles fill plane domains, and this one has dimension {domain.dim}.")
    lower, upper = domain.bounds
    spacing = float((upper - lower).max()) / across
    if domain.periodic:
        return _grid(lower, upper, spacing)
    faces = [face for segment in domain.segments for face in domain._faces(segment)]
    # Parameters of points on each face, two at least, no farther apart than the spacing.
    cells = [int(np.ceil(face.measure / (rim * spacing) - 1e-9)) for face in faces]
    arcs = [int(np.ceil(turn(face) / WIDEST - 1e-9)) for face in faces]
    cells = np.maximum(1, np.maximum(cells, arcs))
    places = [np.linspace(0.0, 1.0, count + 1) for count in cells]
    lattice = _lattice(lower, upper, spacing)
    inside = lattice[domain._inside(lattice, -CLEARANCE * spacing)]
    for _ in range(ROUNDS):
        lines = [face.place(s[:, None])[0] for face, s in zip(faces, places, strict=True)]
        border, edges = _joined(lines, 1e-6 * spacing)
        points = np.concatenate([border, inside])
        triangles = _delaunay(points, _outline(border[edges]), lower, spacing)
        sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        missing = ~np.isin(_keys(edges, len(points)), _keys(sides, len(points)))
        if not missing.any() and len(np.unique(triangles)) == len(points):
            return points, triangles
        ends = np.cumsum([len(s) - 1 for s in places])[:-1]
        places = [_halved(s, m) for s, m in zip(places, np.split(missing, ends), strict=True)]
    raise UsageError(
        f"{domain!r} has parts too narrow for {across} cells across; ask for more of them."
    )


def _halved(s: Float[Array, " k"], chosen: Bool[Array, " k-1"]) -> Float[Array, " m"]:
    """Parameters with the middles of the chosen intervals put in."""
    return np.insert(s, np.flatnonzero(chosen) + 1, (s[:-1] + s[1:])[chosen] / 2)


def _joined(
    lines: list[Float[Array, "_ 2"]], scale: float
) -> tuple[Float[Array, "n 2"], Int[Array, "e 2"]]:
    """All points of the lines, ends that meet being one, and the edges as pairs of numbers."""
    whole = np.round(np.concatenate(lines) / scale).astype(np.int64)
    _, first, inverse = np.unique(whole, axis=0, return_index=True, return_inverse=True)
    numbers = np.split(inverse.ravel(), np.cumsum([len(line) for line in lines])[:-1])
    pairs = [np.stack([each[:-1], each[1:]], axis=1) for each in numbers]
    return np.concatenate(lines)[first], np.concatenate(pairs)


def _outline(edges: Float[Array, "e 2 2"]) -> Any:
    """The polygon, with its holes, that the edges enclose."""
    import shapely

    parts = shapely.get_parts(shapely.polygonize([shapely.LineString(pair) for pair in edges]))
    outline = max(parts, key=lambda part: shapely.Polygon(part.exterior).area)
    shapely.prepare(outline)
    return outline


def _lattice(lower: Array, upper: Array, spacing: float) -> Float[Array, "n 2"]:
    """Corners of equilateral triangles that cover a box."""
    height = spacing * np.sqrt(3) / 2
    rows = np.arange(lower[1] + height / 2, upper[1], height)
    columns = np.arange(lower[0], upper[0] + spacing, spacing)
    points = np.stack(np.meshgrid(columns, rows), axis=-1)
    points[1::2, :, 0] -= spacing / 2
    return points.reshape(-1, 2)


def _delaunay(
    points: Float[Array, "n 2"], outline: Any, origin: Float[Array, " 2"], unit: float
) -> Int[Array, "t 3"]:
    """Triangles inside the outline that are not mere rounding along an edge."""
    import shapely
    from scipy.spatial import Delaunay

    triangles = Delaunay((points - origin) / unit).simplices  # precise wherever it lies
    corners = points[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    middle = corners.mean(axis=1)
    inside = shapely.contains_xy(outline, middle[:, 0], middle[:, 1])
    return triangles[inside & (areas(corners) > 1e-9 * longest**2)]


def _keys(pairs: Int[Array, "n 2"], count: int) -> Int[Array, " n"]:
    """One number for each pair, whichever way round."""
    return pairs.min(axis=1).astype(np.int64) * count + pairs.max(axis=1)


def _grid(lower: Array, upper: Array, spacing: float) -> Mesh:
    """Squares cut in two, for the periodic box: it has no boundary to fit."""
    counts = [max(1, round(length / spacing)) for length in upper - lower]
    points = grids.with_ends(lower, upper, counts)
    corner = np.arange(len(points)).reshape(counts[0] + 1, counts[1] + 1)
    a, b = corner[:-1, :-1].ravel(), corner[1:, :-1].ravel()
    c, d = corner[1:, 1:].ravel(), corner[:-1, 1:].ravel()
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
