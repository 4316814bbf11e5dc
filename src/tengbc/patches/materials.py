"""Patches of several regions: each has cells, leaves and patches of its own; they meet on curves.

A region is cut as a domain is, so that its interfaces are boundary to it. Both sides of an
interface have the same curves; where the leaves of one side and those of the other cut them, the
pieces overlap, and each overlap is a face between two patches.
"""

from __future__ import annotations

import copy
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from tengbc.networks.patches import JoinedTable
from tengbc.patches import rules
from tengbc.patches.cells import Cell
from tengbc.patches.cutting import CutCells, Piece
from tengbc.patches.patches import EXTRA, Batch, Faces, Patches

Array = np.ndarray
SHORTEST = 1e-12
"""Overlaps that are shorter, as part of a curve, are rounding."""


class JoinedPatches:
    """The patches of all regions, numbered one region after the other."""

    def __init__(self, cuts: Sequence[CutCells], leaves: Mapping[Cell, int]):
        self.parts = [
            Patches(cut, {cell: d for cell, d in leaves.items() if cell.region == k})
            for k, cut in enumerate(cuts)
        ]
        self.interfaces = tuple(self._interfaces())
        self._join()

    def _join(self) -> None:
        parts = self.parts
        self.firsts = np.cumsum([0, *map(len, parts)])
        self.regions = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self.degrees = np.concatenate([part.degrees for part in parts])
        self.centre = np.concatenate([part.centre for part in parts])
        self.half = np.concatenate([part.half for part in parts])
        self.patch_of = {
            cell: int(first) + k
            for first, part in zip(self.firsts, parts, strict=False)
            for cell, k in part.patch_of.items()
        }
        pairs = list(zip(self.firsts.tolist(), parts, strict=False))
        self.batches: tuple[Batch, ...] = tuple(
            replace(batch, members=batch.members + first)
            for first, part in pairs
            for batch in part.batches
        )
        self.inner_faces = tuple(_moved(f, first) for first, p in pairs for f in p.inner_faces)
        self.outer_faces = tuple(
            kept for first, p in pairs for f in p.outer_faces if (kept := _outer(f, first))
        )
        self.rank = np.zeros(len(self.degrees), dtype=int)
        for degree in np.unique(self.degrees):
            members = np.flatnonzero(self.degrees == degree)
            self.rank[members] = np.arange(len(members))
        sets = parts[0].cut.domain.whole.regions  # pyright: ignore[reportAttributeAccessIssue]
        self.table = JoinedTable([part.table for part in parts], tuple(s for _, s in sets))

    def __len__(self) -> int:
        return len(self.degrees)

    def coarser(self, by: int) -> JoinedPatches:
        """The same patches and nodes with features of degrees that are lower by so much."""
        found = copy.copy(self)
        found.parts = [part.coarser(by) for part in self.parts]
        found._join()
        return found

    def features(
        self, which: Int[Array, " b"], x: Float[Array, "b q d"], slopes: bool = True
    ) -> tuple[Float[Array, "b q n"], Float[Array, "b q n _d"]]:
        """Features, and their gradients, of patches of one region and degree."""
        region = int(self.regions[which[0]])
        return self.parts[region].features(which - self.firsts[region], x, slopes)

    def projected(
        self,
        field: Callable[[Array], Array],
        which: Sequence[int],
        tolerance: float,
        size: float,
        largest: Float[Array, " m"],
    ) -> Iterator[tuple[int, Float[Array, "n m"]]]:
        """The L² projection of a field that jumps, region by region: see `Patches.projected`."""
        for region, part in enumerate(self.parts):
            first = int(self.firsts[region])
            here = [k - first for k in which if self.regions[k] == region]
            if here:
                for k, head in part.projected(field, here, tolerance, size, largest):
                    yield first + k, head

    def _interfaces(self) -> Iterator[Faces]:
        """Where patches of two regions meet, in batches."""
        firsts = np.cumsum([0, *map(len, self.parts)]).tolist()
        known: dict[tuple[str, int], list[list[tuple[int, Piece]]]] = defaultdict(list)
        for region, part in enumerate(self.parts):
            found, domain = defaultdict(list), part.cut.domain
            number = {id(f): k for s in domain.segments for k, f in enumerate(domain._faces(s))}
            for cell in part.leaves:
                for piece in part.cut.pieces(cell):
                    if "|" in piece.segment:
                        key = piece.segment, number[id(piece.face)]
                        found[key].append((part.patch_of[cell] + firsts[region], piece))
            for key, pieces in found.items():
                known[key].append(pieces)
        degrees = np.concatenate([part.degrees for part in self.parts])
        groups = defaultdict(list)
        for (name, _), (inner, outer) in sorted(known.items(), key=lambda item: item[0]):
            for (i, one), (j, other) in itertools.product(inner, outer):
                start, end = max(one.first, other.first), min(one.last, other.last)
                if not one.is_point and end - start <= SHORTEST:
                    continue
                both = one if one.is_point else one.between(start, end)
                x, normal, w = rules.on_piece(both, int(max(degrees[[i, j]])) + 1 + EXTRA)
                regions = [int(np.searchsorted(firsts, k, side="right")) for k in (i, j)]
                key = (*regions, int(degrees[i]), int(degrees[j]), len(w))
                groups[key].append((i, j, x, w, normal, name))
        for _, found in sorted(groups.items()):
            i, j, x, w, normal, names = zip(*found, strict=True)
            arrays = (np.stack(part) for part in (x, w, normal))
            yield Faces(np.array(i), np.array(j), *arrays, segments=tuple(names))


def _moved(faces: Faces, by: int) -> Faces:
    """The same faces, the numbers of their patches moved on."""
    outer = None if faces.outer is None else faces.outer + by
    return replace(faces, inner=faces.inner + by, outer=outer)


def _outer(faces: Faces, by: int) -> Faces | None:
    """Those faces of a region that lie on the boundary of the domain."""
    rows = [k for k, name in enumerate(faces.segments) if "|" not in name]
    if not rows:
        return None
    arrays = (part[rows] for part in (faces.x, faces.w, faces.normal))
    names = tuple(faces.segments[k] for k in rows)
    return Faces(faces.inner[rows] + by, None, *arrays, segments=names)
