"""Integration on plane domains with curved edges, by triangles with one curved side each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from tengbc.geometry import faces, quadrature, triangles
from tengbc.geometry.faces import Face

Array = np.ndarray
Cuts = list[list[Float[Array, " _"]]]
ROUNDS = 12
WIDEST = np.pi / 4
"""The angle of the arcs that are tried first."""
FINE = 2 * np.pi / 720
"""The angle of an arc whose chord stands for it where a picture of the domain is enough."""


def cuts(rings: Sequence[Sequence[Face]], widest: float) -> Cuts:
    """Fractions that cut each curve of each ring into arcs of an angle of at most `widest`."""
    count = lambda face: 1 + int(faces.turn(face) / widest)
    return [[np.linspace(0.0, 1.0, count(face) + 1) for face in ring] for ring in rings]


def corners(ring: Sequence[Face], where: Sequence[Array]) -> Float[Array, "n 2"]:
    """The points at which a ring is cut, the last one not repeated."""
    placed = [face.place(s[:-1, None])[0] for face, s in zip(ring, where, strict=True)]
    return np.concatenate(placed)


def height(ring: Sequence[Face], where: Sequence[Array]) -> float:
    """How far a ring departs from its chords: an arc of angle φ and length l rises by lφ/8."""
    pairs = zip(ring, where, strict=True)
    return max(face.measure * faces.turn(face) / (len(s) - 1) ** 2 / 8 for face, s in pairs)


class Cells:
    """Triangles that fill a domain exactly, some with one side on a curve of its boundary.

    `rings` are the closed curves of the boundary, the outer one first. Of a curved triangle `apex`
    is the corner across from the curve, which is seen from there as a whole.
    """

    straight: Float[Array, "t 3 2"]
    curved: list[tuple[Float[Array, " 2"], Face]]

    def __init__(self, rings: Sequence[Sequence[Face]], where: Cuts, origin: Float[Array, " 2"]):
        import shapely

        self.origin = origin
        points = [corners(ring, s) - origin for ring, s in zip(rings, where, strict=True)]
        shape = shapely.Polygon(points[0], points[1:])
        self.pieces = [
            (face, float(a), float(b), (r, f, k))
            for r, ring in enumerate(rings)
            for f, face in enumerate(ring)
            for k, (a, b) in enumerate(zip(where[r][f][:-1], where[r][f][1:], strict=True))
        ]
        self.straight, self.curved, self.hidden = np.zeros((0, 3, 2)), [], []
        if not shapely.is_valid(shape):  # chords cross: all arcs are too wide
            self.hidden = [at for face, _, _, at in self.pieces if not face.straight]
            return
        self._fill(np.concatenate(points), _following(points), shape)

    def _fill(self, points: Float[Array, "n 2"], following: Int[Array, " n"], shape: Any) -> None:
        """Chords of curves become curves; a triangle with several is cut at its centre first."""
        import shapely

        parts = shapely.get_parts(shapely.constrained_delaunay_triangles(shape))
        found = shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3]
        numbers = {tuple(point): number for number, point in enumerate(points.tolist())}
        straight = []
        for triangle in found:
            a, b, c = (numbers[tuple(corner)] for corner in triangle.tolist())
            edges = [self._curve(*pair, following) for pair in ((a, b), (b, c), (c, a))]
            count = sum(edge is not None for edge in edges)
            if not count:
                straight.append(triangle)
                continue
            for side, edge in enumerate(edges):
                apex = triangle[(side + 2) % 3] if count == 1 else triangle.mean(axis=0)
                if edge is not None:
                    self._add(apex, edge)
                elif count > 1:
                    straight.append(np.array([apex, triangle[side], triangle[(side + 1) % 3]]))
        self.straight = np.reshape(straight, (-1, 3, 2))

    def _curve(self, a: int, b: int, following: Int[Array, " n"]) -> int | None:
        """The number of the curved piece that joins two points, if there is one."""
        piece = a if following[a] == b else b if following[b] == a else None
        return None if piece is None or self.pieces[piece][0].straight else piece

    def _add(self, apex: Float[Array, " 2"], number: int) -> None:
        face, start, end, at = self.pieces[number]
        piece = faces.part(face, start, end)
        x, normal = piece.place(np.linspace(0.0, 1.0, 17)[:, None])
        if np.any(np.sum((x - self.origin - apex) * normal, axis=1) <= 0):
            self.hidden.append(at)
        self.curved.append((apex, piece))

    def gauss(self, order: int) -> tuple[Float[Array, "n 2"], Float[Array, " n"]]:
        """x = A + r·(c(s) − A) on a curved triangle, so that dx = r·(c − A)·n dr |dc|."""
        x, weights = triangles.gauss(self.straight, order)
        nodes, parts = [x + self.origin], [weights]
        r, radial = quadrature.interval(order + 1)
        for apex, piece in self.curved:
            s, along = piece.gauss(order)
            c, normal = piece.place(s)
            away = c - self.origin - apex
            across = piece.measure * along * np.sum(away * normal, axis=1)
            nodes.append((self.origin + apex + r[:, None, None] * away).reshape(-1, 2))
            parts.append(np.outer(r * radial, across).ravel())
        return np.concatenate(nodes), np.concatenate(parts)


def fill(rings: Sequence[Sequence[Face]], origin: Float[Array, " 2"]) -> Cells | None:
    """Cells between rings; arcs not wholly seen from across are halved. None: too intricate."""
    where = cuts(rings, WIDEST)
    for _ in range(ROUNDS):
        cells = Cells(rings, where, origin)
        if not cells.hidden:
            return cells
        for ring, face, piece in sorted(set(cells.hidden), reverse=True):
            s = where[ring][face]
            where[ring][face] = np.insert(s, piece + 1, (s[piece] + s[piece + 1]) / 2)
    return None


def _following(rings: Sequence[Float[Array, "_ 2"]]) -> Int[Array, " n"]:
    """The number of the point after each point of closed rings."""
    counts = [len(ring) for ring in rings]
    first = np.cumsum([0, *counts[:-1]])
    pairs = zip(first, counts, strict=True)
    return np.concatenate([start + np.roll(np.arange(count), -1) for start, count in pairs])
