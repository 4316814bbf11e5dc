"""Integration over what the domain leaves of a cell: cones from one point over its outline.

By the divergence theorem, for any point A and any region with outward normal n,

    ∫ f = ∮ ∫₀¹ f(A + r(x − A)) rᵈ⁻¹ dr (x − A)·n ds,

in any number of dimensions, curved sides included. With a point A that sees all of the region every
weight is positive and every node lies inside; a region that no such point is found for is halved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tengbc.geometry import convex, quadrature
from tengbc.patches import solids
from tengbc.patches.cells import Cell
from tengbc.patches.cutting import NEAR, CutCells, Piece
from tengbc.patches.solids import SolidPiece

Array = np.ndarray
Rule = tuple[Float[Array, "q d"], Float[Array, " q"]]
CURVED = 6
"""Points more on a curved piece than on a straight one."""
DEEPEST = 5
"""A region is halved this often in search of parts that can be seen from one point."""
HIDDEN = -1e-11
"""A part of an outline counts as hidden below this part of the region's size squared."""


class Part(NamedTuple):
    """A part of an outline: nodes, weights, normals, and where it begins and ends."""

    x: Float[Array, "q d"]
    w: Float[Array, " q"]
    normal: Float[Array, "q d"]
    ends: tuple[Float[Array, " d"], Float[Array, " d"]]


def gauss(count: int) -> tuple[Float[Array, " q"], Float[Array, " q"]]:
    """Gauss's rule with `count` nodes on [0, 1]."""
    return quadrature.interval(2 * count - 2)


def on_piece(piece: Piece | SolidPiece, count: int) -> tuple[Array, Array, Array]:
    """Nodes, normals and weights on a piece of boundary; a point in one dimension."""
    if isinstance(piece, SolidPiece):
        return piece.rule(count)
    if piece.is_point:
        x, normal = piece.face.place(np.zeros((1, 0)))
        return x, normal, np.ones(1)
    s, w = gauss(count if piece.straight else count + CURVED)
    x, normal = piece.place(s)
    return x, normal, w * piece.length


def on_segment(start: Array, end: Array, count: int) -> Rule:
    """Nodes and weights on a straight line."""
    s, w = gauss(count)
    return start + s[:, None] * (end - start), w * float(np.linalg.norm(end - start))


def on_side(corners: Float[Array, "k d"], count: int) -> Rule:
    """Nodes and weights on a part of a cell's side: a flat box by two corners, or a polygon."""
    if len(corners) == 2:
        return convex.on_box(corners[0], corners[1], 2 * count - 1)
    return convex.on_polygon(corners, 2 * count - 1)


def inside(cut: CutCells, cell: Cell, count: int, depth: int = 0) -> Rule:
    """A rule for what the domain leaves of a cell, exact for polynomials of degree 2·count − 1."""
    lower, upper = cut.grid.box(cell)
    kind = cut.kind(cell)
    if kind == "outside":
        return np.zeros((0, len(lower))), np.zeros(0)
    if kind == "whole":
        s, w = quadrature.product([gauss(count)] * len(lower))
        return lower + s * (upper - lower), w * float(np.prod(upper - lower))
    if len(lower) == 3 and cut.divisible:
        return solids.gauss(cut.convex_parts(cell), count)
    alone = cut.grid.cells == [cell] and depth == 0
    if alone and getattr(
        cut.domain, "has_rule", True
    ):  # all of the domain, which knows a rule of its own
        return cut.domain._gauss(2 * count - 1)
    found = _cones(cut, cell, count, float(np.max(upper - lower)), depth == DEEPEST)
    if found is not None:
        return found
    parts = [inside(cut, child, count, depth + 1) for child in cell.children]
    return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])


def _cones(cut: CutCells, cell: Cell, count: int, size: float, last: bool) -> Rule | None:
    """The rule of cones over the outline; None if no point sees all of it, unless it must do."""
    sides, pieces = cut.sides(cell), cut.pieces(cell)
    outline = [
        Part(*on_segment(s.start, s.end, count), np.tile(s.normal, (count, 1)), (s.start, s.end))
        for s in sides
    ]
    for piece in pieces:
        x, normal, w = on_piece(piece, count)
        outline.append(Part(x, w, normal, (piece.ends[0], piece.ends[2])))
    found = [_from_a_point(loop, count, size, last) for loop in _loops(outline, size)]
    parts = [rule for rule in found if rule is not None]
    if len(parts) < len(found):
        return None
    return np.concatenate([x for x, _ in parts]), np.concatenate([w for _, w in parts])


def _loops(outline: list[Part], size: float) -> list[list[Part]]:
    """The outline, divided where it meets itself: a hole that touches a side leaves two cusps."""
    ends = np.array([end for part in outline for end in part.ends])
    near = np.linalg.norm(ends[:, None] - ends, axis=2) <= NEAR * size
    for point in ends[near.sum(axis=1) > 2]:
        for axis in (0, 1):
            low, high = [], []
            for part in outline:
                (low if part.x[:, axis].mean() < point[axis] else high).append(part)
            if low and high and _closed(low, size):
                return [*_loops(low, size), *_loops(high, size)]
    return [outline]


def _closed(parts: list[Part], size: float) -> bool:
    """Whether ∮ n ds = 0."""
    total = np.sum([part.w @ part.normal for part in parts], axis=0)
    return bool(np.abs(total).max() <= NEAR * size)


def _from_a_point(outline: list[Part], count: int, size: float, last: bool) -> Rule | None:
    """The rule of cones from a point that sees all of an outline."""
    x, w, normal = (
        np.concatenate(each) for each in zip(*((p.x, p.w, p.normal) for p in outline), strict=True)
    )
    ends = [end for part in outline for end in part.ends]
    points = np.array([*ends, np.mean(ends, axis=0), (w @ x) / w.sum()])
    heights = np.sum((x - points[:, None]) * normal, axis=2)
    seen = heights.min(axis=1) >= HIDDEN * size
    if not seen.any() and not last:
        return None
    # Of the points that see everything, one on a corner needs the fewest cones.
    cones = np.sum(np.abs(heights) > -HIDDEN * size, axis=1)
    best = int(np.argmin(np.where(seen, cones, len(x) + 1))) if seen.any() else len(points) - 1
    apex, height = points[best], heights[best]
    used = np.abs(height) > -HIDDEN * size
    r, radial = gauss(count + 1)
    nodes = apex + r[:, None, None] * (x[used] - apex)
    weights = (radial * r ** (x.shape[1] - 1))[:, None] * (w * height)[used]
    return nodes.reshape(-1, x.shape[1]), weights.ravel()
