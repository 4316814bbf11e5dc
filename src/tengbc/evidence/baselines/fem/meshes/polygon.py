"""Triangles on a polygon with holes."""

from functools import partial

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh, Segment, curved_triangles, halvings
from tengbc.geometry import Polygon
from tengbc.geometry.mesh import triangulate

Array = np.ndarray
COARSEST = 10
"""Cells across the coarse mesh from which finer ones are refined."""


def polygon_mesh(domain: Polygon, resolution: int) -> FemMesh:
    """Triangles with sides of about a `resolution`-th of the longer side of the bounding box.

    A polygon too intricate for a lattice is cut into triangles along its vertices.
    """
    refinements = halvings(resolution, COARSEST)
    across = resolution / 2**refinements
    try:
        points, triangles = triangulate(domain, across, rim=1.0)
    except UsageError:
        corners = domain._triangles
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
        refinements += halvings(longest, float(np.ptp(domain.bounds, axis=0).max()) / across)
        points, numbers = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
        points, triangles = points + domain._origin, numbers.reshape(-1, 3)
    return curved_triangles(points, triangles, refinements, _segments(domain))


def _segments(domain: Polygon) -> dict[str, Segment]:
    """Each facet belongs to the segment whose edges it lies nearest to."""
    ends = np.array([[0.0], [1.0]])
    edges = {
        name: np.stack([face.place(ends)[0] for face in domain._faces(name)])
        for name in domain.segments
    }

    def nearest(x: Float[Array, "n 2"], index: int) -> Array:
        return np.argmin([_distance(x, edges[name]) for name in edges], axis=0) == index

    return {name: Segment(partial(nearest, index=index)) for index, name in enumerate(edges)}


def _distance(x: Float[Array, "n 2"], edges: Float[Array, "k 2 2"]) -> Float[Array, " n"]:
    """From each point to the nearest of the edges."""
    away, side = x[:, None] - edges[:, 0], edges[:, 1] - edges[:, 0]
    along = np.einsum("nkd,kd->nk", away, side) / np.einsum("kd,kd->k", side, side)
    return np.linalg.norm(away - np.clip(along, 0, 1)[..., None] * side, axis=2).min(axis=1)
