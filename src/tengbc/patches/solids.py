"""Cells in three dimensions: flat faces cut by planes, and cells cut into convex parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from tengbc.geometry import convex
from tengbc.geometry.convex import Convex, Rule
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

Array = np.ndarray
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


@dataclass(frozen=True, eq=False)
class SolidPiece:
    """A convex polygon on a flat face of a boundary segment, or all of a curved face."""

    segment: str
    face: Face
    corners: Float[Array, "_k 3"]
    """Those of the polygon; some points of a curved face."""
    is_point = False

    @property
    def straight(self) -> bool:
        """Whether it is flat."""
        return self.face.straight

    @cached_property
    def normal(self) -> Float[Array, " 3"]:
        """The outward normal of a flat piece, and that somewhere on a curved one."""
        return self.face.place(np.full((1, 2), 0.5))[1][0]

    @property
    def ends(self) -> tuple[Array, ...]:
        """A corner, the middle and the other corners."""
        middle = self.corners.mean(axis=0) if self.straight else self.corners[0]
        return (self.corners[0], middle, *self.corners[1:])

    @property
    def normals(self) -> Float[Array, "2 3"]:
        """The normal there."""
        return np.stack([self.normal, self.normal])

    def split(self, axis: int, plane: float) -> list[SolidPiece]:
        """The piece, cut by a plane of the axes; a curved one stays whole."""
        if not self.straight:
            return [self]
        near = convex.NEAR * float(np.max(np.ptp(self.corners, axis=0)))
        parts = convex.halves(self.corners, np.eye(3)[axis], plane, near)
        return [SolidPiece(self.segment, self.face, part) for part in parts]

    def rule(self, count: int) -> tuple[Array, Array, Array]:
        """Nodes, normals and weights, exact for polynomials of degree 2·count − 1."""
        if not self.straight:
            s, w = self.face.gauss(2 * count - 1)
            x, normal = self.face.place(s)
            return x, normal, w * self.face.measure
        x, w = convex.on_polygon(self.corners, 2 * count - 1)
        return x, np.tile(self.normal, (len(w), 1)), w


def pieces_of(domain: Domain) -> list[SolidPiece]:
    """The boundary of a solid: its flat faces as polygons, the curved ones whole."""
    found = []
    for segment in domain.segments:
        for face in domain._faces(segment):
            corners = face.place(SQUARE)[0] if face.straight else _points(face)
            apart = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1)
            kept = apart > 1e-12 * apart.max() if face.straight else apart > -1.0
            found.append(SolidPiece(segment, face, corners[kept]))
    return found


def _points(face: Face) -> Float[Array, "k 3"]:
    s, _ = face.gauss(8)
    return face.place(s)[0]


def has_flat_faces(domain: Domain) -> bool:
    """Whether cells of any size can be cut from a solid."""
    return all(face.straight for s in domain.segments for face in domain._faces(s))


def parts_within(
    domain: Domain, lower: Array, upper: Array, pieces: Sequence[SolidPiece]
) -> list[Convex]:
    """Convex parts of a box that belong to the domain, whose boundary in the box the pieces are."""
    every = convex.divided(Convex.box(lower, upper), [piece.corners for piece in pieces])
    inside = domain._inside(np.array([part.middle for part in every]), 0.0)
    return [part for part, within in zip(every, inside, strict=True) if within]


def gauss(parts: Sequence[Convex], count: int) -> Rule:
    """A rule for the parts together, exact for polynomials of degree 2·count − 1."""
    found = [part.gauss(2 * count - 1) for part in parts]
    return np.concatenate([x for x, _ in found]), np.concatenate([w for _, w in found])


def around(axis: int) -> Array:
    """Which coordinates of the four corners of a side across an axis are the upper ones."""
    found = np.zeros((4, 3), dtype=bool)
    found[:, [(axis + 1) % 3, (axis + 2) % 3]] = SQUARE > 0
    return found


def shared(
    domain: Domain, side: Float[Array, "4 3"], pieces: Sequence[SolidPiece], off: Array
) -> list[Float[Array, "_k 3"]]:
    """The convex parts of a cell's side that have the domain on both sides, `off` apart.

    Pieces of boundary that cross the side cut it, and those that lie in it do by their edges.
    """
    normal, offset = convex.plane_of(side)
    near = convex.NEAR * float(np.ptp(side, axis=0).max())
    cuts = []
    for piece in pieces:
        height = piece.corners @ normal - offset
        if np.abs(height).max() <= near:
            along = np.roll(piece.corners, -1, axis=0) - piece.corners
            across = np.cross(along, normal)
            across /= np.linalg.norm(across, axis=1, keepdims=True)
            cuts += [(n, float(n @ x)) for n, x in zip(across, piece.corners, strict=True)]
        elif height.min() < near and height.max() > -near:
            cuts.append(convex.plane_of(piece.corners))
    parts = [side]
    for each, at in cuts:
        parts = [half for part in parts for half in convex.halves(part, each, at, near)]
    middles = np.array([part.mean(axis=0) for part in parts])
    inside = domain._inside(np.concatenate([middles - off, middles + off]), 0.0)
    both = inside[: len(parts)] & inside[len(parts) :]
    return [part for part, within in zip(parts, both, strict=True) if within]
