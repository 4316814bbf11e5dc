"""Which leaves, of which degree: what geometry and data ask for at first, and errors later."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import linalg

from tengbc.geometry import quadrature
from tengbc.geometry.domain import Domain
from tengbc.networks import polynomials
from tengbc.patches import rules, solids
from tengbc.patches.cells import Cell, graded
from tengbc.patches.cutting import CutCells, Piece
from tengbc.problem import Problem

Array = np.ndarray
Leaves = Mapping[Cell, int]
Field = tuple[Callable[[Float[Array, "n d"]], Array], float]
"""A field at points, and the part of it that may be missed, in units of the tolerance."""
LEAST_DEGREE, FIRST_DEGREE, MOST_DEGREE = 4, 5, 10
"""Degrees of patches that have neighbours: the least, the least to begin with, the highest."""
MOST_ALONE = {1: 38, 2: 38, 3: 14}
"""The highest degree of a patch that is the whole domain, by its dimension."""
TRIED_ALONE = (8, 14, 22, 30, 38)
"""Degrees with which a single patch is tried on the data."""
SAMPLE = 200
"""Points at which a field is looked at, whether it is the same everywhere."""
DEEPEST = 24
TURN = 0.6 * np.pi
"""Boundary that bends into the domain turns by no more than this within a cell."""
LAYER_CELLS = 5.0
"""Cells in an initial layer, in units of the length that diffusion smooths until it has settled."""
MOST_TAIL = 1.5
"""What is left of a field that does not fall with the degree, by the same measure."""
TAIL_DEGREES = 60
"""Degrees beyond the last that are added up; the rest is nothing beside them."""
SMOOTH, SMOOTH_ALONE = 0.4, 0.75
"""Where shares fall by this factor from degree to degree, or faster, a field is smooth: features of
higher degree pay more than smaller cells. A patch that is the whole domain pays longer."""
MOST_GAINED = {1: 4, 2: 4, 3: 2}
"""Degrees that a patch with neighbours gains at once, by the dimension."""
MOST_MORE = 8
"""Degrees that such a patch gains at once."""


def at_first(
    cut: CutCells,
    corners: list[Corner],
    fields: list[Field],
    layers: frozenset[str],
    tolerance: float,
    resolved: float,
) -> dict[Cell, int]:
    """Leaves for the geometry, graded towards corners, and for given fields.

    `resolved` is the length that diffusion smooths in a short time: cells are not split below it
    for the fields' sake, and down to some multiple of it at segments with an initial layer.
    """
    leaves = _split_while(
        cut, _for_geometry(cut), lambda cell: _in_layer(cut, cell, layers, LAYER_CELLS * resolved)
    )
    degree, before = start_degree(tolerance), frozenset(leaves)
    chosen = {}
    for cell in _towards_corners(cut, leaves, corners, tolerance):
        large = cell
        while large not in before:
            large = large.parent
        # Small cells at a corner contribute little, and need fewer features.
        chosen[cell] = max(LEAST_DEGREE, degree - max(0, cell.level - large.level - 2))
    return _for_fields(cut, chosen, fields, tolerance, LAYER_CELLS * resolved)


def _in_layer(cut: CutCells, cell: Cell, layers: frozenset[str], size: float) -> bool:
    """Whether a cell is larger than that and has a piece of a segment with an initial layer."""
    large = float(np.max(cut.grid.edges(cell))) > size
    return large and any(piece.segment in layers for piece in cut.pieces(cell))


def start_degree(tolerance: float) -> int:
    """The degree to begin with: one more for each digit, and enough to tell how shares fall."""
    return int(np.clip(round(1.5 - math.log10(tolerance)), FIRST_DEGREE, MOST_DEGREE))


def _split_while(cut: CutCells, leaves: list[Cell], wanted: Callable[[Cell], bool]) -> list[Cell]:
    """Leaves, split as long as it is wanted; what lies outside is dropped."""
    waiting, kept = list(leaves), []
    while waiting:
        cell = waiting.pop()
        if cut.kind(cell) == "outside":
            continue
        if cell.level < DEEPEST and cut.divisible and wanted(cell):
            waiting += cell.children
        else:
            kept.append(cell)
    return kept


def _for_geometry(cut: CutCells) -> list[Cell]:
    """Leaves in which no hole hides and no two pieces of boundary face each other."""

    def wanted(cell: Cell) -> bool:
        pieces = cut.pieces(cell)
        inward = sum(_turn(p) for p in pieces if not p.straight and _bends_inwards(p))
        return inward > TURN or _apart(pieces)

    # What is left of a cell in three dimensions consists of convex parts, however they lie.
    plane = len(cut.grid.counts) == 2
    return _split_while(cut, cut.grid.cells, wanted if plane else lambda c: False)


def _turn(piece: Piece) -> float:
    """The angle by which a piece turns."""
    first, _, last = piece.normals
    return float(np.arccos(np.clip(first @ last, -1.0, 1.0)))


def _bends_inwards(piece: Piece) -> bool:
    """Whether the middle of a piece lies on the domain's side of its chord."""
    start, middle, end = piece.ends
    return bool((middle - (start + end) / 2) @ piece.normals[1] < 0)


def _apart(pieces: tuple[Piece, ...]) -> bool:
    """Whether pieces bend inwards on a hole that does not meet the others: a wall nearby."""
    if len(pieces) < 2:
        return False
    # Chains of pieces that share an end; more than one chain, and one of them a hole's.
    chain = list(range(len(pieces)))
    ends = np.array([(p.ends[0], p.ends[2]) for p in pieces])
    near = 1e-9 * max(p.length for p in pieces)
    for i in range(len(pieces)):
        for j in range(i):
            gap = np.linalg.norm(ends[i][:, None] - ends[j][None], axis=2).min()
            if gap <= near:
                chain = [chain[j] if c == chain[i] else c for c in chain]
    curved = {c for c, p in zip(chain, pieces, strict=True) if not p.straight and _bends_inwards(p)}
    return len(set(chain)) > 1 and bool(curved)


# Corners.


@dataclass(frozen=True)
class Corner:
    """A point of the boundary, or an edge of a solid, near which u behaves as a power r^α."""

    ends: Float[Array, "2 d"]
    exponent: float


def singular_points(problem: Problem) -> list[Corner]:
    """Corners and edges of the domain, and changes of condition, at which u is not smooth."""
    domain = problem.domain
    if domain.dim == 1:
        return []
    rims = _edges(problem) if domain.dim == 3 else _ends(problem)
    found = []
    for i, one in enumerate(rims):
        for other in rims[:i]:
            common = _common(one.ends, other.ends, 1e-9 * domain.scale)
            if common is None or one.owner == other.owner:
                continue
            angle = _inner_angle(domain, common, one.normal, other.normal)
            exponent = np.pi / angle if one.value == other.value else np.pi / (2 * angle)
            whole = abs(exponent - round(exponent)) < 1e-6
            # Along a straight edge another law on the slope makes u behave as r·log r.
            bent = exponent > 1 - 1e-6 and one.owner[0] == other.owner[0]
            if (not whole and exponent < 2.0) or (exponent < 1 + 1e-6 and not bent):
                found.append(Corner(common, float(exponent)))
    return found


class _Rim(NamedTuple):
    """Where a face of the boundary ends: its two ends are one in the plane."""

    ends: Float[Array, "2 d"]
    normal: Float[Array, " d"]
    value: bool
    """Whether the condition prescribes u there."""
    owner: tuple[str, int]


def _ends(problem: Problem) -> list[_Rim]:
    """The ends of all faces of a plane domain."""
    found = []
    for segment in problem.domain.segments:
        value = problem.conditions[segment].prescribes_value
        for face in problem.domain._faces(segment):
            x, normal = face.place(np.array([[0.0], [1.0]]))
            found += [_Rim(x[[k, k]], normal[k], value, (segment, id(face))) for k in (0, 1)]
    return found


def _edges(problem: Problem) -> list[_Rim]:
    """The edges of all flat faces of a solid."""
    found = []
    for piece in solids.pieces_of(problem.domain):
        if not piece.straight:
            continue
        value, owner = (
            problem.conditions[piece.segment].prescribes_value,
            (piece.segment, id(piece)),
        )
        for k in range(len(piece.corners)):
            found.append(_Rim(piece.corners[[k - 1, k]], piece.normal, value, owner))
    return found


def _common(
    one: Float[Array, "2 d"], other: Float[Array, "2 d"], near: float
) -> Float[Array, "2 d"] | None:
    """The ends of what two edges, or points, have in common; None if it is nothing."""
    along = one[1] - one[0]
    length = float(np.linalg.norm(along))
    if length <= near:
        return one if np.linalg.norm(one[0] - other[0]) <= near else None
    places = (other - one[0]) @ along / length
    off = other - one[0] - np.outer(places, along) / length
    first, last = max(0.0, float(places.min())), min(length, float(places.max()))
    if np.linalg.norm(off, axis=1).max() > near or last - first <= near:
        return None
    return one[0] + np.outer([first, last], along) / length


def _inner_angle(domain, ends: Array, normal: Array, other: Array) -> float:
    """The angle of the domain between two pieces of boundary that meet at a point or an edge."""
    turned = np.linspace(0.0, 2 * np.pi, 720, endpoint=False)
    if domain.dim == 2:
        first, second = np.eye(2)
    else:
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
        first, second = normal, np.cross(along, normal)
    x = ends.mean(axis=0)
    circle = np.cos(turned)[:, None] * first + np.sin(turned)[:, None] * second
    seen = 2 * np.pi * domain._inside(x + 1e-4 * domain.scale * circle, 0.0).mean()
    # The normals know the angle to the last digit, but not on which side it is.
    between = float(np.arccos(np.clip(normal @ other, -1.0, 1.0)))
    return min(np.pi - between, np.pi + between, key=lambda angle: abs(angle - seen))


def _towards_corners(
    cut: CutCells, leaves: list[Cell], corners: list[Corner], tolerance: float
) -> frozenset[Cell]:
    """Leaves split at corners until what is left of r^α there is below the tolerance."""
    solid = len(cut.grid.counts) == 3
    for corner in corners:
        spared = 2 if corner.exponent < 1 + 1e-6 else 3
        levels = max(0, math.ceil(-math.log2(tolerance) / (1 + corner.exponent)) - spared)
        first = max((c.level for c in leaves if _touches(cut, c, corner.ends)), default=0)
        if solid:  # edges take many cells: what a few levels leave is left to the errors
            first, levels = 1, levels // 2
        leaves = _split_while(
            cut,
            leaves,
            lambda c, f=first, n=levels, x=corner.ends: c.level < f + n and _touches(cut, c, x),
        )
    return frozenset(c for c in graded(leaves) if cut.kind(c) != "outside")


def _touches(cut: CutCells, cell: Cell, ends: Float[Array, "2 d"]) -> bool:
    """Whether a cell has a point in common with an edge, or with a point."""
    lower, upper = cut.grid.box(cell)
    near = 1e-9 * (upper - lower)
    start, along = ends[0], ends[1] - ends[0]
    moves = np.abs(along) > near
    if not ((start >= lower - near) & (start <= upper + near))[~moves].all():
        return False
    part = np.stack([lower - near - start, upper + near - start])[:, moves] / along[moves]
    first, last = part.min(axis=0).max(initial=0.0), part.max(axis=0).min(initial=1.0)
    return bool(first <= last)


# Data.


def _for_fields(
    cut: CutCells, leaves: dict[Cell, int], fields: list[Field], tolerance: float, resolved: float
) -> dict[Cell, int]:
    """Leaves and degrees with which all fields are resolved to the tolerance."""
    fields = [field for field in fields if not constant(cut.domain, field[0])]
    if not fields:
        return leaves
    if len(leaves) == 1:
        (cell,) = leaves
        most = MOST_ALONE[len(cut.grid.counts)]
        tried = tuple(degree for degree in TRIED_ALONE if degree <= most)
        degree = _sufficient(cut, cell, fields, None, tolerance, tried)
        if degree is not None:
            return {cell: max(degree, leaves[cell])}
    known: dict[Cell, Float[Array, "k _p"]] = {}
    for _ in range(DEEPEST):
        new = [cell for cell in leaves if cell not in known]
        known |= zip(new, _shares_of_all(cut, new, MOST_DEGREE + 2, fields), strict=True)
        sizes = np.sum([known[cell].sum(axis=1) for cell in leaves], axis=0)
        goal = tolerance / math.sqrt(len(leaves))
        finer: dict[Cell, int] = {}
        for cell, degree in leaves.items():
            enough = _least(known[cell], sizes, goal * _allowed(fields, known[cell]), MOST_DEGREE)
            if enough is not None:
                finer[cell] = max(degree, enough)
            elif cut.divisible and float(np.max(cut.grid.edges(cell))) > resolved:
                finer |= dict.fromkeys(cell.children, degree)
            else:  # a jump, which no degree resolves
                finer[cell] = degree
        finer = balanced(cut, finer)
        if finer.keys() == leaves.keys():
            return finer
        leaves = {cell: min(degree, start_degree(tolerance)) for cell, degree in finer.items()}
    return leaves


def _sufficient(
    cut: CutCells, cell: Cell, fields: list[Field], sizes, goal: float, degrees: tuple[int, ...]
) -> int | None:
    """The least degree that resolves the fields on a cell; None if none of those tried does."""
    for tried in degrees:
        shares = _shares(cut, cell, tried + 2, fields)
        goals = goal * _allowed(fields, shares)
        found = _least(shares, shares.sum(axis=1), goals, tried)
        if found is not None:
            return found
        needed = [_foreseen(*each) for each in zip(shares, goals, strict=True)]
        if tried != degrees[0] and max(needed) > degrees[-1]:
            return None
    return None


def _foreseen(shares: Float[Array, " p"], goal: float) -> float:
    """The degree that a field would need, if what is left of it fell twice as fast as it does.

    That of a smooth field falls faster and faster, that of a jump does not. Where half of it is
    left by half the degrees, as of a wave with many crests, nothing is foretold: 0.
    """
    left = np.sqrt(np.cumsum(shares[::-1])[::-1] / max(float(shares.sum()), 1e-300))
    last, half = len(shares) - 2, len(shares) // 2
    if left[half] > 0.5 or left[last] <= goal:
        return 0.0
    falls = math.log(left[half] / left[last]) / (last - half)
    return last + math.log(left[last] / goal) / max(2 * falls, 1e-3)


def constant(domain: Domain, field: Callable[[Array], Array]) -> bool:
    """Whether a field looks the same everywhere, so that it asks for nothing."""
    values = field(domain.interior(SAMPLE).x).reshape(SAMPLE, -1)
    return not np.ptp(values, axis=0).any()


def _allowed(fields: list[Field], shares: Float[Array, "k p"]) -> Float[Array, " k"]:
    """The part that may be missed of each component of each field."""
    each = len(shares) // len(fields)
    return np.repeat([allowed for _, allowed in fields], each)


def _least(
    shares: Float[Array, "k p"], sizes: Float[Array, " k"], goals: Float[Array, " k"], most: int
) -> int | None:
    """The least degree that leaves less than its goal of every field."""
    relative = shares / np.where(sizes > 0, sizes * goals**2, 1.0)[:, None]
    left = np.sqrt(np.cumsum(relative[:, ::-1], axis=1)[:, ::-1]).max(axis=0)  # from degree k on
    enough = np.flatnonzero(left[1:] <= 1.0)
    return int(enough[0]) if enough.size and enough[0] <= most else None


def missed(cut: CutCells, leaves: Leaves, field: Callable[[Array], Array]) -> float:
    """The part of a field that the features of the leaves leave out, by finer rules."""
    if constant(cut.domain, field):
        return 0.0
    shares = []
    for degree in sorted(set(leaves.values())):
        cells = [cell for cell, d in leaves.items() if d == degree]
        found = _shares_of_all(cut, cells, degree + 2, [(field, 1.0)])
        shares += [(part, degree) for part in found]
    whole = sum(float(part.sum()) for part, _ in shares)
    left = sum(float(part[:, d + 1 :].sum()) for part, d in shares)
    return math.sqrt(left / whole) if whole > 0 else 0.0


def balanced(cut: CutCells, leaves: Leaves) -> dict[Cell, int]:
    """Leaves that differ by one level at most from those they touch; parts keep their degree."""
    result = {}
    for cell in graded(leaves):
        if cut.kind(cell) == "outside":
            continue
        owner = cell
        while owner not in leaves:
            owner = owner.parent
        result[cell] = leaves[owner]
    return result


def _shares(cut: CutCells, cell: Cell, degree: int, fields: list[Field]) -> Float[Array, "k p"]:
    """∫f² of each field on a cell, divided among the degrees of the features that make it up."""
    return _shares_of_all(cut, [cell], degree, fields)[0]


def _shares_of_all(
    cut: CutCells, cells: list[Cell], degree: int, fields: list[Field]
) -> list[Float[Array, "k p"]]:
    """The same for many cells; each field is evaluated once."""
    nodes = [rules.inside(cut, cell, degree + 2) for cell in cells]
    x = np.concatenate([each for each, _ in nodes])
    values = np.concatenate([field(x).reshape(len(x), -1) for field, _ in fields], axis=1)
    parts = np.split(values, np.cumsum([len(w) for _, w in nodes])[:-1])
    return [
        _divided(cut, cell, degree, *each, part)
        for cell, each, part in zip(cells, nodes, parts, strict=True)
    ]


def _divided(
    cut: CutCells,
    cell: Cell,
    degree: int,
    x: Float[Array, "q d"],
    w: Float[Array, " q"],
    found: Float[Array, "q k"],
) -> Float[Array, "k p"]:
    """∫f² from values at a cell's nodes, divided among the degrees."""
    if not len(w):
        return np.zeros((found.shape[1], degree + 1))
    if cut.kind(cell) == "whole":  # those of every box, up to its size
        features = _features_of_a_box(x.shape[1], degree) / math.sqrt(w.sum())
        heads = features.T @ (w[:, None] * found)
    else:  # freed of those of lower degree; which basis of a degree it is does not matter
        lower, upper = x.min(axis=0), x.max(axis=0)
        root = np.sqrt(np.abs(w))
        rows = root[:, None] * _legendre((2 * x - lower - upper) / (upper - lower), degree)
        heads = linalg.qr_multiply(rows, (np.copysign(root, w)[:, None] * found).T)[0].T
    total = polynomials.exponents(x.shape[1], degree).sum(axis=1)
    shares = np.zeros((found.shape[1], degree + 1))
    for k in range(degree + 1):
        shares[:, k] = np.sum(heads[total == k] ** 2, axis=0)
    # What no feature holds counts with the last.
    missed = w @ found**2 - shares.sum(axis=1)
    shares[:, -1] += np.maximum(missed, 0.0) * (missed > 1e-13 * (w @ found**2))
    return shares


@cache
def _features_of_a_box(dim: int, degree: int) -> Float[Array, "q n"]:
    """Orthonormal features on the unit box at the nodes of its rule."""
    s, _ = quadrature.product([rules.gauss(degree + 2)] * dim)
    return _legendre(2 * s - 1, degree) * math.sqrt(2**dim)


def _legendre(z: Float[Array, "n d"], degree: int) -> Float[Array, "n p"]:
    """Products of Legendre polynomials, orthonormal on the cube, in the order of the features."""
    powers = polynomials.exponents(z.shape[1], degree)
    lengths = np.sqrt(np.arange(degree + 1) + 0.5)
    along = [np.polynomial.legendre.legvander(part, degree) * lengths for part in z.T]
    return np.prod([part[:, powers[:, k]] for k, part in enumerate(along)], axis=0)


def decay(energies: Float[Array, " p"]) -> float:
    """The factor by which shares fall from degree to degree, pairs of them taken together."""
    pairs = np.array([np.hypot(a, b) for a, b in itertools.pairwise(energies)])
    pairs = np.maximum(pairs[-4:], 1e-16 * max(float(energies.max()), 1e-300))
    if len(pairs) < 2 or pairs[0] <= 0:
        return 0.5
    return float((pairs[-1] / pairs[0]) ** (1 / (len(pairs) - 1)))


def tail(energies: Float[Array, " p"]) -> float:
    """What is left of a field beyond its last degree p, as part of what degrees p − 1 and p hold.

    Shares fall as a power of the degree where a field is singular, and by a factor from degree to
    degree where it is smooth. Either law is continued through the last two pairs of degrees: the
    first says too much of smooth fields, the second too little of others, so their mean is taken.
    """
    p = len(energies) - 1
    before, own = (float(np.linalg.norm(energies[k : k + 2])) for k in (p - 3, p - 1))
    if not 0 < own < before:
        return MOST_TAIL
    power = math.log(before / own) / math.log((p - 0.5) / (p - 2.5))
    degrees = np.arange(p - 1, p + TAIL_DEGREES, dtype=float)
    squares = (degrees / p) ** (-2 * power)
    by_power = math.sqrt(squares[2:].sum() / squares[:2].sum())
    by_factor = 1 / math.sqrt((before / own) ** 2 - 1)
    return min(math.sqrt(by_power * by_factor), MOST_TAIL)


# Errors.


def by_errors(
    cut: CutCells,
    leaves: Leaves,
    errors: Mapping[Cell, float],
    decays: Mapping[Cell, float],
    tolerance: float,
) -> dict[Cell, int]:
    """Finer leaves where errors are large: split where u is rough, of higher degree elsewhere."""
    goal = 0.5 * tolerance / math.sqrt(len(leaves))
    finer: dict[Cell, int] = {}
    for cell, degree in leaves.items():
        error, decay = errors.get(cell, 0.0), decays.get(cell, 0.5)
        if error <= goal:
            finer[cell] = degree
            continue
        if len(leaves) == 1:
            most = MOST_ALONE[len(cell.place)]
            higher = _higher_alone(degree, error / goal, decay, most)
            if higher is None and not cut.divisible:
                higher = min(degree + 2, most)
        else:
            higher = _higher(degree, error / goal, decay, MOST_GAINED[len(cell.place)])
        if higher is not None:
            finer[cell] = higher
            continue
        parts = cell.children
        if error > 2.0 ** (degree + 1) * goal:  # more than halving a cell can gain
            parts = [part for child in parts for part in child.children]
        lower = 1 if len(cell.place) == 3 and decay > SMOOTH else 0
        finer |= dict.fromkeys(parts, max(min(degree, MOST_DEGREE) - lower, LEAST_DEGREE))
    return balanced(cut, finer)


def _higher(degree: int, excess: float, decay: float, gained: int) -> int | None:
    """The degree that removes a patch's excess of error; None if splitting it promises more."""
    more = math.ceil(math.log(excess) / -math.log(min(max(decay, 1e-3), 0.99)))
    if decay < SMOOTH and degree < MOST_DEGREE and more <= 8:
        return min(degree + max(1, min(more, gained)), MOST_DEGREE)
    return None


def _higher_alone(degree: int, excess: float, decay: float, most: int) -> int | None:
    """The same for a patch that is the whole domain, where a higher degree costs little."""
    more = 1 + math.ceil(math.log(excess) / -math.log(min(max(decay, 1e-3), 0.99)))
    if decay < SMOOTH_ALONE and degree + more <= most:
        return degree + min(more, MOST_MORE)
    return None
