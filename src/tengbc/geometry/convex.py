"""Flat polygons and convex solids, cut by planes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tengbc.geometry import quadrature

Array = np.ndarray
Corners = Float[Array, "_k 3"]
Rule = tuple[Float[Array, "_q _d"], Float[Array, " _q"]]
NEAR = 1e-10
"""What is nearer to a plane than this part of a solid's size lies in it."""


def clipped(corners: Corners, normal: Array, offset: float, near: float) -> Corners | None:
    """The part of a convex polygon where n·x ≤ offset; None if there is none, or only an edge."""
    height = corners @ normal - offset
    height[np.abs(height) <= near] = 0.0
    if height.max() <= 0:
        return corners
    if height.min() >= 0:
        return None
    found = []
    for k in range(len(corners)):
        here, there = height[k - 1], height[k]
        if here * there < 0:
            found.append(corners[k - 1] + (corners[k] - corners[k - 1]) * (here / (here - there)))
        if there <= 0:
            found.append(corners[k])
    return np.array(found)


def halves(corners: Corners, normal: Array, offset: float, near: float) -> list[Corners]:
    """A convex polygon, cut by a plane: one part or two."""
    parts = clipped(corners, normal, offset, near), clipped(corners, -normal, -offset, near)
    if parts[0] is None or parts[1] is None or parts[0] is corners:
        return [corners]
    return [part for part in parts if part is not None]


def plane_of(corners: Corners) -> tuple[Float[Array, " 3"], float]:
    """Normal, by the right-hand rule, and offset of a polygon's plane."""
    middle = corners.mean(axis=0)
    around = np.cross(corners - middle, np.roll(corners, -1, axis=0) - middle).sum(axis=0)
    normal = around / np.linalg.norm(around)
    return normal, float(normal @ middle)


def area(corners: Corners) -> float:
    """The area of a flat polygon."""
    return (
        float(np.linalg.norm(np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(0)))
        / 2
    )


def on_polygon(corners: Corners, order: int) -> Rule:
    """A rule on a convex polygon, exact up to a degree: a product on rectangles of the axes."""
    lower, upper = corners.min(axis=0), corners.max(axis=0)
    size = upper - lower
    flat = int(np.argmin(size))
    whole = float(np.prod(np.delete(size, flat)))
    if size[flat] <= 1e-12 * size.max() and abs(area(corners) - whole) <= 1e-10 * whole:
        return on_box(lower, np.where(np.arange(3) == flat, lower, upper), order)
    s, w = quadrature.triangle(order)
    nodes, weights = [], []
    for k in range(1, len(corners) - 1):
        a, b = corners[k] - corners[0], corners[k + 1] - corners[0]
        nodes.append(corners[0] + s @ np.stack([a, b]))
        weights.append(w * float(np.linalg.norm(np.cross(a, b))) / 2)
    return np.concatenate(nodes), np.concatenate(weights)


def on_box(lower: Array, upper: Array, order: int) -> Rule:
    """The product rule on a box, which may be flat along some axes, or a point."""
    rule, point = quadrature.interval(order), (np.zeros(1), np.ones(1))
    wide = upper > lower
    s, w = quadrature.product([rule if each else point for each in wide])
    return lower + s * (upper - lower), w * float(np.prod((upper - lower)[wide]))


class Convex:
    """A convex solid by its faces, each a polygon seen from outside."""

    def __init__(self, faces: Sequence[Corners]):
        self.faces = list(faces)
        corners = np.concatenate(self.faces)
        self.lower, self.upper = corners.min(axis=0), corners.max(axis=0)
        self.middle = corners.mean(axis=0)
        """A point inside."""

    @staticmethod
    def box(lower: Array, upper: Array) -> Convex:
        """A box of the axes."""
        found, unit = [], np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        for axis in range(3):
            free = [(axis + 1) % 3, (axis + 2) % 3]
            for side, order in ((0, slice(None, None, -1)), (1, slice(None))):
                place = np.full((4, 3), side)
                place[:, free] = unit[order]
                found.append(np.where(place > 0, upper, lower))
        return Convex(found)

    @property
    def volume(self) -> float:
        """By cones from its middle."""
        cones = [(plane_of(f), area(f)) for f in self.faces]
        return sum((offset - normal @ self.middle) * size for (normal, offset), size in cones) / 3

    def split(self, normal: Array, offset: float) -> list[Convex]:
        """The parts on both sides of a plane: two, or the solid itself."""
        near = NEAR * float(np.max(self.upper - self.lower))
        heights = [face @ normal - offset for face in self.faces]
        if max(h.max() for h in heights) <= near or min(h.min() for h in heights) >= -near:
            return [self]
        found = []
        for sign in (1.0, -1.0):
            kept = [clipped(face, sign * normal, sign * offset, near) for face in self.faces]
            kept = [face for face in kept if face is not None]
            lid = np.concatenate([f[np.abs(f @ normal - offset) <= near] for f in kept])
            found.append(Convex([*kept, _ordered(lid, sign * normal, near)]))
        return found

    def gauss(self, order: int) -> Rule:
        """A rule with positive weights: a product on a box, else cones from the middle."""
        size = self.upper - self.lower
        if len(self.faces) == 6 and abs(self.volume - np.prod(size)) <= 1e-10 * np.prod(size):
            return on_box(self.lower, self.upper, order)
        r, radial = quadrature.interval(order + 2)
        nodes, weights = [], []
        for face in self.faces:
            x, w = on_polygon(face, order)
            normal, offset = plane_of(face)
            nodes.append((self.middle + r[:, None, None] * (x - self.middle)).reshape(-1, 3))
            weights.append(np.outer(radial * r**2, w * (offset - normal @ self.middle)).ravel())
        return np.concatenate(nodes), np.concatenate(weights)


def _ordered(points: Float[Array, "n 3"], normal: Array, near: float) -> Corners:
    """The corners of a convex polygon, each once, anticlockwise about its normal."""
    kept = [points[0]]
    for point in points[1:]:
        if np.min(np.linalg.norm(np.array(kept) - point, axis=1)) > 4 * near:
            kept.append(point)
    corners = np.array(kept)
    away = corners - corners.mean(axis=0)
    first = away[0] / np.linalg.norm(away[0])
    second = np.cross(normal, first)
    return corners[np.argsort(np.arctan2(away @ second, away @ first))]


def divided(solid: Convex, polygons: Sequence[Corners]) -> list[Convex]:
    """Convex parts of a solid that none of some polygons passes through."""
    near = NEAR * float(np.max(solid.upper - solid.lower))
    for number, polygon in enumerate(polygons):
        normal, offset = plane_of(polygon)
        parts = solid.split(normal, offset)
        if len(parts) < 2:
            continue
        found = []
        for part, sign in zip(parts, (1.0, -1.0), strict=True):
            rest = [clipped(p, sign * normal, sign * offset, near) for p in polygons[number + 1 :]]
            found += divided(part, [p for p in rest if p is not None and _meets(p, part)])
        return found
    return [solid]


def _meets(polygon: Corners, solid: Convex) -> bool:
    """Whether a part of a polygon, more than an edge, lies inside a convex solid."""
    near = NEAR * float(np.max(solid.upper - solid.lower))
    left: Corners | None = polygon
    for face in solid.faces:
        normal, offset = plane_of(face)
        left = clipped(left, normal, offset, near)
        if left is None or len(left) < 3:
            return False
    return True
