"""The polyhedron: a solid with flat faces."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks, convex, faces
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

Array = np.ndarray
FLAT = 1e-9
"""How far the corners of a face may lie off its plane, in units of the solid's size."""
AT_ONCE = 200_000
"""Pairs of points and triangles that are looked at in one go."""


@final
@dataclass(frozen=True, repr=False)
class Polyhedron(Domain):
    """The solid enclosed by flat `faces`, lists of numbers of `vertices` in order around each.

    A face may have any outline without holes, such as an L; all are seen from outside the same way
    round. Segments are face0, face1, …; `names` renames them, and faces of one name form one
    segment. A box less one of its corners, with (1, 1, 1) cut off from (−1, −1, −1) on:

        tb.Polyhedron.less_corner((-1, -1, -1), (1, 1, 1), (0, 0, 0))
    """

    vertices: Sequence[Sequence[float]] | np.ndarray
    faces: Sequence[Sequence[int]]
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vertices = tuple(
            checks.vector(vertex, f"vertex {k}", dim=3)
            for k, vertex in enumerate(checks.sequence(self.vertices, "vertices"))
        )
        around = tuple(
            tuple(
                checks.whole(number, f"A corner of face {k}", 0, len(vertices) - 1)
                for number in checks.sequence(face, f"face {k}")
            )
            for k, face in enumerate(checks.sequence(self.faces, "faces"))
        )
        names = _names(self.names, len(around))
        checks.assign(self, vertices=vertices, faces=around, names=names)
        self._check()

    @classmethod
    def less_corner(
        cls, lower: Sequence[float], upper: Sequence[float], inner: Sequence[float]
    ) -> "Polyhedron":
        """A box without the box from `inner` to its upper corner: Fichera's domain.

        Segments are named as those of a box; the three faces of the notch are "notch".
        """
        for low, high in ((lower, upper), (lower, inner), (inner, upper)):
            checks.box(low, high, 3)
        ends = np.array([lower, inner, upper], dtype=float)
        number: dict[tuple[int, ...], int] = {}
        around, names = [], []
        sides = (("left", "right"), ("bottom", "top"), ("back", "front"))
        whole, notched = (
            [(0, 0), (2, 0), (2, 2), (0, 2)],
            [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)],
        )
        notch = [(1, 1), (2, 1), (2, 2), (1, 2)]
        for axis in range(3):
            free = [(axis + 1) % 3, (axis + 2) % 3]
            for name, level, outline in zip(
                (*sides[axis], "notch"), (0, 2, 1), (whole[::-1], notched, notch), strict=True
            ):
                corners = []
                for place in outline:
                    at = [0, 0, 0]
                    at[axis], at[free[0]], at[free[1]] = level, *place
                    corners.append(number.setdefault(tuple(at), len(number)))
                around.append(corners)
                names.append(name)
        vertices = [[float(ends[k, a]) for a, k in enumerate(at)] for at in number]
        return cls(vertices, around, names)

    def _check(self) -> None:
        """Faces that are not flat or do not close, or a ProblemError."""
        corners = np.array(self.vertices)
        for number, face in enumerate(self.faces):
            if len(set(face)) < 3 or len(set(face)) < len(face):
                raise ProblemError(f"face {number} must have three corners or more, each once.")
            normal, offset = convex.plane_of(corners[list(face)])
            off = np.abs(corners[list(face)] @ normal - offset).max()
            if off > FLAT * np.ptp(corners):
                raise ProblemError(
                    f"face {number} is not flat: a corner lies {off:.2g} off its plane; divide it "
                    "into triangles."
                )
        edges = Counter((a, b) for f in self.faces for a, b in zip(f, (*f[1:], f[0]), strict=True))
        open_edges = [edge for edge in edges if edges[edge] != 1 or edges[edge[1], edge[0]] != 1]
        if open_edges:
            raise ProblemError(
                f"The edge between vertices {open_edges[0][0]} and {open_edges[0][1]} must belong "
                "to two faces, which run along it in opposite directions; correct the faces."
            )
        if self.measure <= 0:
            raise ProblemError("All faces are seen from inside; give their corners backwards.")

    def __repr__(self) -> str:
        return f"Polyhedron(vertices={len(self.vertices)}, faces={len(self.faces)})"

    @cached_property
    def _triangles(self) -> list[Float[Array, "t 3 3"]]:
        """The triangles that each face is made of, seen from outside."""
        return [_triangulated(np.array(self.vertices)[list(face)]) for face in self.faces]

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.names or ()))

    @property
    def bounds(self) -> tuple[Float[Array, " 3"], Float[Array, " 3"]]:
        corners = np.array(self.vertices)
        return corners.min(axis=0), corners.max(axis=0)

    @cached_property
    def measure(self) -> float:
        """By the cones from one vertex over all faces."""
        corners = np.concatenate(self._triangles) - np.array(self.vertices[0])
        return float(np.linalg.det(corners).sum()) / 6

    def _faces(self, segment: str) -> tuple[Face, ...]:
        pairs = zip(self.names or (), self._triangles, strict=True)
        return tuple(faces.triangle(t) for name, found in pairs if name == segment for t in found)

    def _gauss(self, order: int) -> tuple[Float[Array, "n 3"], Float[Array, " n"]]:
        found = [part.gauss(order) for part in self._parts]
        return np.concatenate([x for x, _ in found]), np.concatenate([w for _, w in found])

    @cached_property
    def _parts(self) -> list[convex.Convex]:
        """Convex solids that fill it."""
        every = convex.divided(
            convex.Convex.box(*self.bounds), list(np.concatenate(self._triangles))
        )
        inside = self._inside(np.array([part.middle for part in every]), 0.0)
        return [part for part, within in zip(every, inside, strict=True) if within]

    def _inside(self, x: Float[Array, "n 3"], margin: float) -> Bool[Array, " n"]:
        triangles = np.concatenate(self._triangles)
        chunks = np.array_split(x, max(1, len(x) * len(triangles) // AT_ONCE))
        if not len(x):
            return np.zeros(0, dtype=bool)
        return np.concatenate([_within(part, triangles, margin) for part in chunks])


def _names(names: Any, count: int) -> tuple[str, ...]:
    """One name for each face, or a ProblemError."""
    if names is None:
        return tuple(f"face{index}" for index in range(count))
    chosen = checks.sequence(names, "names")
    if len(chosen) != count or not all(isinstance(name, str) and name for name in chosen):
        raise ProblemError(
            f"names must hold one name for each of the {count} faces, not {names!r}."
        )
    return chosen


def _triangulated(corners: Float[Array, "k 3"]) -> Float[Array, "t 3 3"]:
    """A flat polygon as triangles: ears that hold no other corner are cut off."""
    normal, _ = convex.plane_of(corners)
    left, found = list(corners), []
    while len(left) > 3:
        for k in range(len(left)):
            a, b, c = left[k - 2], left[k - 1], left[k]
            others = [p for p in left if not any(p is q for q in (a, b, c))]
            if np.cross(b - a, c - b) @ normal > 0 and not any(
                _in_triangle(p, a, b, c, normal) for p in others
            ):
                found.append((a, b, c))
                left.pop(k - 1)
                break
        else:
            raise ProblemError("A face crosses itself; give its corners in order around it.")
    return np.array([*found, left])


def _in_triangle(p: Array, a: Array, b: Array, c: Array, normal: Array) -> bool:
    sides = [np.cross(v - u, p - u) @ normal for u, v in ((a, b), (b, c), (c, a))]
    return bool(min(sides) >= 0)


def _within(x: Float[Array, "n 3"], triangles: Float[Array, "t 3 3"], margin: float) -> Array:
    """By the solid angle that all faces together fill, and the distance where that matters."""
    a, b, c = (triangles[None, :, k] - x[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    triple = np.sum(a * np.cross(b, c), axis=2)
    dot = lambda u, v: np.sum(u * v, axis=2)
    whole = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    inside = 2 * np.arctan2(triple, whole).sum(axis=1) > 2 * np.pi
    away = _distance(a, b, c).min(axis=1)
    return inside | (away <= margin) if margin >= 0 else inside & (away > -margin)


def _distance(a: Array, b: Array, c: Array) -> Float[Array, "n t"]:
    """The distance of the origin from triangles."""
    normal = np.cross(b - a, c - a)
    normal = normal / np.linalg.norm(normal, axis=2, keepdims=True)
    height = np.sum(normal * a, axis=2)
    beside, edges = [], []
    for u, v in ((a, b), (b, c), (c, a)):
        along = v - u
        s = np.clip(-np.sum(u * along, axis=2) / np.sum(along**2, axis=2), 0.0, 1.0)
        edges.append(np.linalg.norm(u + s[..., None] * along, axis=2))
        beside.append(np.sum(np.cross(along, -u) * normal, axis=2))
    return np.where(np.min(beside, axis=0) >= 0, np.abs(height), np.min(edges, axis=0))
