"""Cells of a tree: boxes that are halved along every axis, and which of them touch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Array = np.ndarray


@dataclass(frozen=True, order=True)
class Cell:
    """A box of a grid that was halved `level` times, by its place in that grid."""

    level: int
    place: tuple[int, ...]
    region: int = 0
    """The region of the domain whose grid it belongs to."""

    @property
    def parent(self) -> Cell:
        """The cell it is a part of."""
        return Cell(self.level - 1, tuple(k >> 1 for k in self.place), self.region)

    @property
    def children(self) -> tuple[Cell, ...]:
        """Its halves along every axis."""
        halves = itertools.product((0, 1), repeat=len(self.place))
        return tuple(
            Cell(self.level + 1, tuple(2 * k + h for k, h in pairs), self.region)
            for pairs in (zip(self.place, half, strict=True) for half in halves)
        )

    def beside(self, axis: int, side: int) -> Cell:
        """The cell of the same size on the other side (1: upper, −1: lower) along an axis."""
        place = list(self.place)
        place[axis] += side
        return Cell(self.level, tuple(place), self.region)


@dataclass(frozen=True)
class Grid:
    """The cells of level 0: `counts` boxes of one `size` from the corner `lower` on."""

    lower: tuple[float, ...]
    size: tuple[float, ...]
    counts: tuple[int, ...]
    region: int = 0

    @staticmethod
    def over(lower: Float[Array, " d"], upper: Float[Array, " d"], region: int = 0) -> Grid:
        """Boxes that fill a box, as nearly cubes as can be with the shortest edge undivided."""
        edges = upper - lower
        counts = np.maximum(1, np.round(edges / edges.min())).astype(int)
        size = edges / counts
        return Grid(tuple(lower.tolist()), tuple(size.tolist()), tuple(counts.tolist()), region)

    @property
    def cells(self) -> list[Cell]:
        """All cells of level 0."""
        places = itertools.product(*map(range, self.counts))
        return [Cell(0, place, self.region) for place in places]

    def box(self, cell: Cell) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        """Lower and upper corner of a cell, the same bits for cells that meet there."""
        place, part = np.array(cell.place), 0.5**cell.level
        lower, size = np.array(self.lower), np.array(self.size)
        return lower + size * (place * part), lower + size * ((place + 1) * part)

    def edges(self, cell: Cell) -> Float[Array, " d"]:
        """The lengths of a cell's edges."""
        return np.array(self.size) * 0.5**cell.level

    def at(self, x: Float[Array, "n d"], level: int) -> np.ndarray:
        """The places, at a level, of the cells that points lie in; the grid's rim belongs to it."""
        part = np.array(self.size) * 0.5**level
        places = np.floor((x - np.array(self.lower)) / part).astype(int)
        return np.clip(places, 0, np.array(self.counts) * 2**level - 1)


def touching(leaves: Iterable[Cell]) -> Iterator[tuple[Cell, Cell, int, int]]:
    """(small, large, axis, side) of leaves that share a side; `side` points out of the small one.

    Of two leaves of one size the lower comes first.
    """
    known = frozenset(leaves)
    for cell in known if isinstance(leaves, frozenset) else leaves:
        for axis in range(len(cell.place)):
            for side in (-1, 1):
                other = cell.beside(axis, side)
                if other in known:
                    if side == 1:
                        yield cell, other, axis, side
                    continue
                while other.level > 0 and other not in known:
                    other = other.parent
                if other in known:
                    yield cell, other, axis, side


def graded(leaves: Iterable[Cell]) -> frozenset[Cell]:
    """The leaves, split until those that touch differ by one level at most."""
    known = set(leaves)
    waiting = sorted(known, reverse=True)
    while waiting:
        cell = waiting.pop(0)
        if cell not in known:
            continue
        for axis in range(len(cell.place)):
            for side in (-1, 1):
                other = cell.beside(axis, side)
                while other.level > 0 and other not in known:
                    other = other.parent
                if other in known and other.level < cell.level - 1:
                    known.remove(other)
                    known.update(other.children)
                    waiting += [*other.children, cell]
    return frozenset(known)
