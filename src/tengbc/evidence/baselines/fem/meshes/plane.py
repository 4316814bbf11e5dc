"""Triangles on any plane domain: polygons with holes, parts of segments, domains of one's own."""

from functools import partial

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh, Segment, curved_triangles, halvings
from tengbc.geometry import Domain, Polygon, faces
from tengbc.geometry.faces import Face
from tengbc.geometry.mesh import triangulate

Array = np.ndarray
COARSEST = 10
"""Cells across the coarse mesh from which finer ones are refined."""
STEPS = 12
"""Towards the nearest point of a curve; each divides the error by ten or more near the curve."""


def plane_mesh(domain: Domain, resolution: int) -> FemMesh:
    """Triangles with sides of about a `resolution`-th of the longer side of the bounding box.

    A polygon too intricate for a lattice is cut into triangles along its vertices.
    """
    refinements = halvings(resolution, COARSEST)
    across = resolution / 2**refinements
    try:
        points, triangles = triangulate(domain, across, rim=1.0)
    except UsageError:
        if not isinstance(domain, Polygon) or domain._round:
            raise
        corners = domain._triangles
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max()
        refinements += halvings(longest, float(np.ptp(domain.bounds, axis=0).max()) / across)
        points, numbers = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
        points, triangles = points + domain._origin, numbers.reshape(-1, 3)
    return curved_triangles(points, triangles, refinements, _segments(domain))


def _segments(domain: Domain) -> dict[str, Segment]:
    """Each facet belongs to the segment that it lies nearest to, and on its curves in the end."""
    chains = {name: domain._faces(name) for name in domain.segments}

    def nearest(x: Float[Array, "n 2"], index: int) -> Array:
        away = [np.linalg.norm(x - _onto(chain, x), axis=1) for chain in chains.values()]
        return np.argmin(away, axis=0) == index

    return {
        name: Segment(
            partial(nearest, index=index),
            None if all(face.straight for face in chain) else partial(_onto, chain),
        )
        for index, (name, chain) in enumerate(chains.items())
    }


def _onto(chain: tuple[Face, ...], x: Float[Array, "n 2"]) -> Float[Array, "n 2"]:
    """The nearest point of a segment to each point."""
    places = np.stack([_foot(face, x) for face in chain])
    best = np.argmin(np.linalg.norm(places - x, axis=2), axis=0)
    return places[best, np.arange(len(x))]


def _foot(face: Face, x: Float[Array, "n 2"]) -> Float[Array, "n 2"]:
    """The nearest point of one curve: from s a step (x − c(s))·c'(s)/|c'|² along it."""
    start, end = faces.ends(face)
    closed = np.allclose(start, end, atol=1e-9 * face.measure)
    samples = np.linspace(0.0, 1.0, 2 if face.straight else 65)
    tried = face.place(samples[:, None])[0]
    s = samples[np.argmin(np.linalg.norm(x[:, None] - tried, axis=2), axis=1)]
    for _ in range(1 if face.straight else STEPS):
        place, normal = face.place(s[:, None])
        across = np.stack([-normal[:, 1], normal[:, 0]], axis=1)
        s = s + _heading(face) * np.sum((x - place) * across, axis=1) / face.measure
        s = s % 1.0 if closed else np.clip(s, 0.0, 1.0)
    return face.place(s[:, None])[0]


def _heading(face: Face) -> float:
    """1 if the curve runs to the left of its normal, −1 if to the right."""
    (before, after), (normal, _) = face.place(np.array([[0.5], [0.501]]))
    return float(np.sign(normal[0] * (after - before)[1] - normal[1] * (after - before)[0]))
