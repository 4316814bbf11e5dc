"""What a domain leaves of a cell: pieces of its boundary, and the parts of the cell's sides inside.

Nothing is meshed. A cell that is halved cuts its pieces of boundary where they cross the middle
planes; the ends of the pieces cut the cell's sides. Together they are the outline of what is left,
each part with its outward normal, and that is all that integration needs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.geometry.convex import Convex
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face
from tengbc.patches import solids
from tengbc.patches.cells import Cell, Grid
from tengbc.patches.solids import SolidPiece

Array = np.ndarray
TURN = np.pi / 4
"""A curved face is divided into pieces whose normals turn by no more than this."""
SAMPLES = 9
"""Points along a piece at which a crossing is looked for."""
NEAR = 1e-9
"""What is nearer than this part of a cell's edge counts as the same place."""
OFF = 1e-7
"""A point this part of a cell's edge off a side tells what lies beside it."""


@dataclass(frozen=True)
class Piece:
    """A part s₀ ≤ s ≤ s₁ of a face of a boundary segment."""

    segment: str
    face: Face
    first: float
    last: float
    is_point: bool = False
    """The boundary of an interval has no length."""

    def place(self, s: Float[Array, " n"]) -> tuple[Float[Array, "n d"], Float[Array, "n d"]]:
        """Points and normals at fractions of the piece."""
        if self.is_point:
            return self.face.place(np.zeros((len(s), 0)))
        return self.face.place((self.first + (self.last - self.first) * s)[:, None])

    @property
    def length(self) -> float:
        """Its arc length."""
        return self.face.measure * (self.last - self.first)

    @cached_property
    def _three(self) -> tuple[Float[Array, "3 d"], Float[Array, "3 d"]]:
        """Points and normals at its beginning, in the middle and at its end."""
        return self.place(np.array([0.0, 0.5, 1.0]))

    @cached_property
    def ends(self) -> tuple[Array, Array, Array]:
        """Beginning, middle and end."""
        x = self._three[0]
        return x[0], x[1], x[2]

    @property
    def normals(self) -> Float[Array, "3 d"]:
        """The normals there."""
        return self._three[1]

    @cached_property
    def straight(self) -> bool:
        """Whether the piece is a straight one."""
        if self.face.straight:
            return True
        return bool(np.abs(self.normals - self.normals[0]).max() < 1e-12)

    @cached_property
    def samples(self) -> tuple[Float[Array, " n"], Float[Array, "n d"]]:
        """Some values of s along the piece, and their points."""
        s = np.linspace(self.first, self.last, SAMPLES)
        return s, self.face.place(s[:, None])[0]

    def between(self, first: float, last: float) -> Piece:
        """The part between two values of s."""
        return Piece(self.segment, self.face, first, last)


@dataclass(frozen=True)
class Side:
    """A straight part of a cell's side within the domain, with the normal out of the cell."""

    start: Float[Array, " d"]
    end: Float[Array, " d"]
    normal: Float[Array, " d"]


class CutCells:
    """The cells of a grid over a domain of one to three dimensions, cut when asked for."""

    def __init__(self, domain: Domain, grid: Grid):
        self.domain, self.grid = domain, grid
        self._kinds: dict[Cell, str] = {}
        self._parts: dict[tuple, list[tuple[Array, Array]]] = {}
        self._convex: dict[Cell, list[Convex]] = {}
        found: dict[Cell, list[Piece | SolidPiece]] = {cell: [] for cell in grid.cells}
        for piece in _faces(domain):
            parts = [piece]
            for axis, count in enumerate(grid.counts):
                for k in range(1, 1 if piece.is_point else count):
                    plane = grid.lower[axis] + grid.size[axis] * k
                    parts = [q for p in parts for q in _split(p, axis, plane)]
            for part in parts:
                found[self._home(part, 0)].append(part)
        self._pieces: dict[Cell, tuple[Piece | SolidPiece, ...]] = {
            c: tuple(p) for c, p in found.items()
        }

    @cached_property
    def divisible(self) -> bool:
        """Whether cells can be halved: a solid with curved faces is one cell as a whole."""
        return self.domain.dim < 3 or solids.has_flat_faces(self.domain)

    def _home(self, piece: Piece | SolidPiece, level: int) -> Cell:
        """The cell of a level that has the piece on its inner side."""
        off = OFF * min(self.grid.size) * 0.5**level
        inner = piece.ends[1] - off * piece.normals[1]
        place = self.grid.at(inner[None], level)[0].tolist()
        return Cell(level, tuple(place), self.grid.region)

    def pieces(self, cell: Cell) -> tuple[Any, ...]:
        """The pieces of boundary in a cell."""
        if cell not in self._pieces:
            parent = cell.parent
            middle = np.mean(self.grid.box(parent), axis=0)
            parts = list(self.pieces(parent))
            if len(middle) > 1:
                for axis, plane in enumerate(middle):
                    parts = [q for p in parts for q in _split(p, axis, float(plane))]
            homes = [self._home(part, cell.level) for part in parts]
            for child in parent.children:
                self._pieces[child] = tuple(
                    p for p, home in zip(parts, homes, strict=True) if home == child
                )
        return self._pieces[cell]

    def kind(self, cell: Cell) -> str:
        """ "whole", "cut" or "outside": how much of a cell the domain leaves."""
        if cell not in self._kinds:
            # Where one is asked for, its siblings will be.
            self._find_kinds(cell.parent.children if cell.level else self.grid.cells)
        return self._kinds[cell]

    def _find_kinds(self, cells: Sequence[Cell]) -> None:
        boxes = [self.grid.box(cell) for cell in cells]
        middles = np.array([(lower + upper) / 2 for lower, upper in boxes])
        inside = self.domain._inside(middles, 0.0)
        for cell, box, whole in zip(cells, boxes, inside, strict=True):
            within = any(not _on_rim(p, *box) for p in self.pieces(cell))
            self._kinds[cell] = "cut" if within else "whole" if whole else "outside"

    def convex_parts(self, cell: Cell) -> list[Convex]:
        """Convex parts that what the domain leaves of a cell consists of (three dimensions)."""
        if cell not in self._convex:
            box, pieces = self.grid.box(cell), self.pieces(cell)
            self._convex[cell] = solids.parts_within(self.domain, *box, pieces)
        return self._convex[cell]

    def bounds(self, cell: Cell) -> tuple[Array, Array]:
        """The box around what the domain leaves of a cell."""
        if self.kind(cell) == "whole":
            return self.grid.box(cell)
        if self.domain.dim == 3 and self.divisible:
            parts = self.convex_parts(cell)
            return np.min([p.lower for p in parts], axis=0), np.max(
                [p.upper for p in parts], axis=0
            )
        if self.domain.dim == 3:
            return self.grid.box(cell)
        found = [x for piece in self.pieces(cell) for x in piece.ends]
        found += [x for side in self.sides(cell) for x in (side.start, side.end)]
        return np.min(found, axis=0), np.max(found, axis=0)

    def shared(self, cell: Cell, other: Cell, axis: int, side: int) -> list[Array]:
        """The parts of a cell's side, within the domain, that it shares with another cell.

        Each by its corners: two of a box that is flat along `axis`, or all those of a polygon.
        """
        lower, upper = map(np.copy, self.grid.box(cell))
        plane = float((lower if side < 0 else upper)[axis])
        lower[axis] = upper[axis] = plane
        if len(lower) == 1 or self.kind(cell) == self.kind(other) == "whole":
            return [np.stack([lower, upper])]
        if len(lower) == 2:
            free = 1 - axis
            breaks = [at for c in (cell, other) for at in self.breaks(c, axis, plane, free)]
            return [np.stack(ends) for ends in self.parts(cell, axis, plane, breaks)]
        corners = np.where(solids.around(axis), upper, lower)
        off = OFF * min(self.grid.edges(cell)) * np.eye(3)[axis]
        return solids.shared(self.domain, corners, [*self.pieces(cell), *self.pieces(other)], off)

    def breaks(self, cell: Cell, axis: int, plane: float, free: int) -> list[float]:
        """Where pieces of the boundary in a cell end on the plane of one of its sides."""
        near = NEAR * min(self.grid.size) * 0.5**cell.level
        ends = [x for p in self.pieces(cell) for x in (p.ends[0], p.ends[2])]
        return [float(x[free]) for x in ends if abs(x[axis] - plane) <= near]

    def sides(self, cell: Cell) -> list[Side]:
        """The parts of a cell's sides that lie within the domain (two dimensions)."""
        lower, upper = self.grid.box(cell)
        found = []
        for axis in (0, 1):
            for side, plane in ((-1.0, lower[axis]), (1.0, upper[axis])):
                breaks = self.breaks(cell, axis, plane, 1 - axis)
                parts = self.parts(cell, axis, float(plane), breaks)
                normal = np.zeros(2)
                normal[axis] = side
                found += [Side(a, b, normal) for a, b in parts]
        return found

    def parts(
        self, cell: Cell, axis: int, plane: float, breaks: list[float]
    ) -> list[tuple[Array, Array]]:
        """The parts of a side, cut at `breaks`, with the domain on both sides of them."""
        key = cell, axis, plane, *breaks
        if key not in self._parts:
            self._parts[key] = self._find_parts(cell, axis, plane, breaks)
        return self._parts[key]

    def _find_parts(
        self, cell: Cell, axis: int, plane: float, breaks: list[float]
    ) -> list[tuple[Array, Array]]:
        lower, upper = self.grid.box(cell)
        free, length = 1 - axis, upper[1 - axis] - lower[1 - axis]
        places = sorted({float(lower[free]), float(upper[free]), *breaks})
        places = [p for p in places if lower[free] <= p <= upper[free]]
        kept = [places[0]]
        for p in places[1:]:
            if p - kept[-1] > 1e-12 * length:
                kept.append(p)
        starts, ends = np.array(kept[:-1]), np.array(kept[1:])
        x = np.empty((2, len(starts), 2))
        x[:, :, free], x[:, :, axis] = (starts + ends) / 2, plane
        off = OFF * min(self.grid.edges(cell))
        x[0, :, axis] -= off
        x[1, :, axis] += off
        inside = self.domain._inside(x.reshape(-1, 2), 0.0).reshape(2, -1).all(axis=0)
        found = []
        for a, b in zip(starts[inside], ends[inside], strict=True):
            ends_of = np.empty((2, 2))
            ends_of[:, axis], ends_of[:, free] = plane, (a, b)
            found.append((ends_of[0], ends_of[1]))
        return found


def _faces(domain: Domain) -> Sequence[Piece | SolidPiece]:
    """The boundary as pieces that turn little, or are flat."""
    if domain.dim == 3:
        return solids.pieces_of(domain)
    pieces = []
    for segment in domain.segments:
        for face in domain._faces(segment):
            if domain.dim == 1:
                pieces.append(Piece(segment, face, 0.0, 1.0, is_point=True))
                continue
            _, normal = face.place(np.linspace(0.0, 1.0, 65)[:, None])
            cosine = np.clip(np.sum(normal[1:] * normal[:-1], axis=1), -1.0, 1.0)
            count = max(1, math.ceil(float(np.arccos(cosine).sum()) / TURN - 1e-6))
            ends = np.linspace(0.0, 1.0, count + 1)
            pieces += [Piece(segment, face, a, b) for a, b in itertools.pairwise(ends)]
    return pieces


def _on_rim(piece: Piece | SolidPiece, lower: Array, upper: Array) -> bool:
    """Whether a piece lies in one of the sides of a box."""
    x, near = np.array(piece.ends), NEAR * (upper - lower)
    low, high = np.abs(x - lower) <= near, np.abs(x - upper) <= near
    return bool(low.all(axis=0).any() or high.all(axis=0).any())


def _split(piece: Any, axis: int, plane: float) -> Sequence[Any]:
    """The piece, cut where it crosses the plane x_axis = plane."""
    if isinstance(piece, SolidPiece):
        return piece.split(axis, plane)
    apart = lambda s: piece.face.place(np.array([[s]]))[0][0, axis] - plane
    near = 1e-13 * max(1.0, abs(plane)) + NEAR * 1e-2 * piece.length
    if piece.straight:
        start, _, end = (x[axis] - plane for x in piece.ends)
        if abs(start) <= near or abs(end) <= near or start * end > 0:
            return [piece]
        s = piece.first + (piece.last - piece.first) * start / (start - end)
        return [piece.between(piece.first, s), piece.between(s, piece.last)]
    s, x = piece.samples
    values = x[:, axis] - plane
    if values.min() > near or values.max() < -near:
        return [piece]
    values[np.abs(values) <= near] = 0.0
    cuts = [float(a) for a, v in zip(s[1:-1], values[1:-1], strict=True) if v == 0.0]
    for k in range(SAMPLES - 1):
        if values[k] * values[k + 1] < 0:
            from scipy.optimize import brentq  # heavy; a domain in one patch does without it

            cuts.append(float(np.asarray(brentq(apart, s[k], s[k + 1], xtol=1e-15))))
    if not cuts:
        return [piece]
    ends = [piece.first, *sorted(cuts), piece.last]
    return [piece.between(a, b) for a, b in itertools.pairwise(ends)]
