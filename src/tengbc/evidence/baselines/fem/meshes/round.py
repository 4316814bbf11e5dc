"""Triangles on the disk, the annulus and the sector of an annulus."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh, Segment, curved_triangles, halvings
from tengbc.geometry import AnnularSector, Annulus, Disk, polar

Array = np.ndarray
CORNERS = 6
"""Triangles at the centre of a disk: six are equilateral."""


def disk_mesh(domain: Disk, resolution: int) -> FemMesh:
    """Rings about the centre, ring k with 6k points."""
    count = max(1.0, resolution / 2)
    refinements = halvings(count, 4)
    points, triangles = rings(max(1, round(count / 2**refinements)))
    center = np.array(domain.center)
    segments = {"circle": _circle(center, domain.radius, lambda x: np.ones(len(x), dtype=bool))}
    return curved_triangles(center + domain.radius * points, triangles, refinements, segments)


def rings(count: int) -> tuple[Float[Array, "n 2"], Int[Array, "t 3"]]:
    """The unit disk as `count` rings of nearly equilateral triangles."""
    size = np.maximum(1, CORNERS * np.arange(count + 1))
    first = np.concatenate([[0], np.cumsum(size)])
    ring = np.repeat(np.arange(count + 1), size)
    place = np.arange(first[-1]) - first[ring]
    points = (ring / count)[:, None] * polar.direction(2 * np.pi * place / size[ring])

    # Each point but the centre is the first of an edge of its ring, which has one triangle on its
    # inner side; the points within a sixth also have one that stands on the ring below.
    ring, place = ring[1:], place[1:]
    sixth, step = np.divmod(place, ring)
    below = sixth * (ring - 1) + step

    def outer(index: Array) -> Array:
        return first[ring] + index % size[ring]

    def inner(index: Array) -> Array:
        return first[ring - 1] + index % size[ring - 1]

    hanging = np.stack([outer(place), outer(place + 1), inner(below)], axis=1)
    standing = np.stack([outer(place), inner(below), inner(below - 1)], axis=1)
    return points, np.concatenate([hanging, standing[step > 0]])


def ring_mesh(domain: Annulus | AnnularSector, resolution: int) -> FemMesh:
    """A grid in polar coordinates, its cells cut in two."""
    start, span, closed = domain._start, domain._span, domain._span == polar.TURN
    lower, upper = domain.bounds
    size = float(np.max(upper - lower)) / resolution
    radial = max(1.0, (domain.outer - domain.inner) / size)
    # In a thin ring cells must not bend too much: arcs rise by a fortieth of its width at most.
    widest = 2 * np.arccos(1 - (domain.outer - domain.inner) / (40 * domain.outer))
    around = max(span / min(widest, np.pi / 6), span * (domain.outer + domain.inner) / 2 / size)
    refinements = min(halvings(radial, 4), halvings(around, 16 * span / (2 * np.pi)))
    cells = [max(1, round(count / 2**refinements)) for count in (radial, around)]
    cells[1] = max(cells[1], 3 if closed else 1)
    r, s = np.meshgrid(
        np.linspace(domain.inner, domain.outer, cells[0] + 1),
        np.arange(cells[1] + (not closed)) / cells[1],
        indexing="ij",
    )
    center = np.array(domain.center)
    points = center + r.reshape(-1, 1) * polar.direction(start + span * s.ravel())
    middle = (domain.inner + domain.outer) / 2

    def outer(x: Array) -> Bool[Array, " n"]:
        return np.linalg.norm(x - center, axis=1) >= middle

    def turn(x: Array) -> Array:
        """The angle as a part of the span: 0 at the start, 1 at the end."""
        away = x - center
        angle = np.arctan2(away[:, 1], away[:, 0]) - start - span / 2
        return 0.5 + ((angle + np.pi) % (2 * np.pi) - np.pi) / span

    def between_sides(x: Array) -> Bool[Array, " n"]:
        return (turn(x) > 1e-9) & (turn(x) < 1 - 1e-9) | closed

    segments = {
        "inner": _circle(center, domain.inner, lambda x: ~outer(x) & between_sides(x)),
        "outer": _circle(center, domain.outer, lambda x: outer(x) & between_sides(x)),
    }
    if not closed:
        segments["start"] = Segment(lambda x: turn(x) <= 1e-9)
        segments["end"] = Segment(lambda x: turn(x) >= 1 - 1e-9)
    return curved_triangles(points, _halves(r.shape, closed), refinements, segments)


def _halves(shape: tuple[int, ...], closed: bool) -> Int[Array, "t 3"]:
    """Triangles of a grid of points, the diagonals changing direction from cell to cell."""
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    if closed:
        number = np.concatenate([number, number[:, :1]], axis=1)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    i, j = np.indices(a.shape)
    even = ((i + j) % 2 == 0)[..., None]
    first = np.where(even, np.stack([a, b, c], -1), np.stack([a, b, d], -1))
    second = np.where(even, np.stack([a, c, d], -1), np.stack([b, c, d], -1))
    return np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def _circle(center: Float[Array, " 2"], radius: float, where: Callable[[Array], Array]) -> Segment:
    """An arc, onto which points move along the radius."""

    def snap(x: Float[Array, "n 2"]) -> Float[Array, "n 2"]:
        away = x - center
        return center + radius * away / np.linalg.norm(away, axis=1)[:, None]

    return Segment(where, snap)
