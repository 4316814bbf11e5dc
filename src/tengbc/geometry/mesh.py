"""Triangles that fill a plane domain up to its true boundary: what is drawn and exported."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.geometry import grids
from tengbc.geometry.domain import Domain
from tengbc.geometry.triangles import areas

Array = np.ndarray
Mesh = tuple[Float[Array, "n 2"], Int[Array, "t 3"]]
ATTEMPTS = 5
FINER = 0.5
"""Spacing on the boundary, in units of the spacing inside: curves are to look smooth."""


def triangulate(domain: Domain, across: int = 60) -> Mesh:
    """Points and triangles, about `across` cells along the longer side of the bounding box.

    The outer edges join points of the boundary itself. Points keep a distance from the boundary
    that makes its edges Delaunay; where a narrow part defeats that, all is done again on a finer
    scale, and the area shows it.
    """
    if domain.dim != 2:
        raise UsageError(f"Triangles fill plane domains, and this one has dimension {domain.dim}.")
    lower, upper = domain.bounds
    spacing = float((upper - lower).max()) / across
    if domain.periodic:
        return _grid(lower, upper, spacing)
    for _ in range(ATTEMPTS):
        mesh, area = _delaunay(domain, spacing)
        whole = len(np.unique(mesh[1])) == len(mesh[0])
        if whole and abs(areas(mesh[0][mesh[1]]).sum() - area) <= 1e-9 * area:
            return mesh
        spacing /= 2
    raise UsageError(
        f"{domain!r} has parts too narrow for {across} cells across; ask for more of them."
    )


def _delaunay(domain: Domain, spacing: float) -> tuple[Mesh, float]:
    """The triangulation, and the area within the polygon of its boundary points."""
    import shapely
    from scipy.spatial import Delaunay

    lines = []
    for segment in domain.segments:
        for face in domain._faces(segment):
            count = max(2, round(face.measure / (FINER * spacing)) + 1)
            lines.append(face.place(np.linspace(0.0, 1.0, count)[:, None])[0])
    # Ends that meet are one point: coordinates are joined on a scale far below the spacing.
    joined = np.round(np.concatenate(lines) / (1e-6 * spacing)).astype(np.int64)
    _, first, inverse = np.unique(joined, axis=0, return_index=True, return_inverse=True)
    rim = np.concatenate(lines)[first]
    ends = np.split(inverse.ravel(), np.cumsum([len(line) for line in lines])[:-1])
    edges = np.concatenate([np.stack([end[:-1], end[1:]], axis=1) for end in ends])
    shape = shapely.get_parts(shapely.polygonize([shapely.LineString(pair) for pair in rim[edges]]))
    outline = max(shape, key=lambda part: shapely.Polygon(part.exterior).area)
    shapely.prepare(outline)

    lower, upper = domain.bounds
    inside = _hexagonal(lower, upper, spacing)
    inside = inside[domain._inside(inside, -0.6 * spacing)]
    points = np.concatenate([rim, inside])
    triangles = Delaunay((points - lower) / spacing).simplices  # precise wherever it lies
    middle = points[triangles].mean(axis=1)
    kept = shapely.contains_xy(outline, middle[:, 0], middle[:, 1])
    kept &= areas(points[triangles]) > 1e-9 * spacing**2
    return (points, triangles[kept]), float(outline.area)


def _hexagonal(lower: Array, upper: Array, spacing: float) -> Float[Array, "n 2"]:
    height = spacing * np.sqrt(3) / 2
    rows = np.arange(lower[1] + height / 2, upper[1], height)
    columns = np.arange(lower[0], upper[0] + spacing, spacing)
    points = np.stack(np.meshgrid(columns, rows), axis=-1)
    points[1::2, :, 0] -= spacing / 2
    return points.reshape(-1, 2)


def _grid(lower: Array, upper: Array, spacing: float) -> Mesh:
    """Squares cut in two, for the periodic box: it has no boundary to fit."""
    counts = [max(1, round(length / spacing)) for length in upper - lower]
    points = grids.tensor(
        [
            np.linspace(low, high, count + 1)
            for low, high, count in zip(lower, upper, counts, strict=True)
        ]
    )
    corner = np.arange(len(points)).reshape(counts[0] + 1, counts[1] + 1)
    a, b = corner[:-1, :-1].ravel(), corner[1:, :-1].ravel()
    c, d = corner[1:, 1:].ravel(), corner[:-1, 1:].ravel()
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
