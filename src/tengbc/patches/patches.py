"""Patches over a domain: leaves of a tree with features of their own, and where they meet.

Arrays are batched by degree: patches of one degree have equally many features, and a rule with
fewer nodes than the largest of its batch is filled up with nodes of weight zero.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from numpy.polynomial.legendre import legvander

from tengbc.networks import polynomials
from tengbc.networks.patches import PatchTable
from tengbc.patches import rules
from tengbc.patches.breaks import Looked
from tengbc.patches.cells import Cell, touching
from tengbc.patches.cutting import CutCells
from tengbc.patches.jumps import Boxes, Jumps

Array = np.ndarray
SLIVER = 0.15
"""A cut cell with less than this part of its volume left is joined to a neighbour."""
JUMP_SHARE = 1e-2
"""Parts and whole of a box may differ by this part of the tolerance. For 360 disks and half-planes
on three domains the projection was then wrong by 0.05 tolerances at worst, 2e-4 in the median."""
EXTRA = 1
"""Nodes more, along each axis, than products of two features need: for coefficients."""


@dataclass(frozen=True)
class Batch:
    """Patches of one degree: their numbers, features T, and an integration rule for each."""

    degree: int
    members: Int[Array, " b"]
    mixing: Float[Array, "b n n"]
    x: Float[Array, "b q d"]
    w: Float[Array, "b q"]


@dataclass(frozen=True)
class Faces:
    """Faces of equally many nodes between patches of two degrees, or of one and the boundary.

    `inner` and `outer` are numbers of patches; a boundary has no `outer`. The normal points out of
    the inner patch.
    """

    inner: Int[Array, " f"]
    outer: Int[Array, " f"] | None
    x: Float[Array, "f q d"]
    w: Float[Array, "f q"]
    normal: Float[Array, "f q d"]
    segments: tuple[str, ...] = ()


class Patches:
    """Leaves with degrees over a domain, cut, slivers joined to a neighbour, and their features."""

    regions: Int[Array, " p"] | None = None
    """The region of each patch, where there are several."""
    interfaces: tuple[Faces, ...] = ()
    """Where patches of two regions meet."""

    def __init__(self, cut: CutCells, leaves: Mapping[Cell, int]):
        self.cut = cut
        kept = {cell: d for cell, d in sorted(leaves.items()) if cut.kind(cell) != "outside"}
        self.leaves = tuple(kept)
        volume = {cell: rules.inside(cut, cell, kept[cell] + 1 + EXTRA) for cell in kept}
        sides = list(self._sides())
        owner = _joined(cut, kept, volume, sides)
        self.home = {cell: k for k, cell in enumerate(dict.fromkeys(owner.values()))}
        self.patch_of = {cell: self.home[owner[cell]] for cell in kept}
        self.degrees = np.array([kept[cell] for cell in self.home])
        for cell, home in owner.items():
            if kept[home] > kept[cell]:  # a sliver has the degree of the patch it was joined to
                volume[cell] = rules.inside(cut, cell, kept[home] + 1 + EXTRA)
        x, w = self._rules(kept, volume)
        self.centre, self.half = self._boxes()
        self.batches = tuple(self._batches(x, w))
        self.table = self._table()
        self._mixing = {
            int(degree): np.stack(
                [self.table.mixing[k] for k in np.flatnonzero(self.degrees == degree)]
            )
            for degree in np.unique(self.degrees)
        }
        self.rank = np.zeros(len(self), dtype=int)
        """The number of a patch among those of its degree."""
        for degree in self._mixing:
            members = np.flatnonzero(self.degrees == degree)
            self.rank[members] = np.arange(len(members))
        self._side_list = [s for s in sides if self.patch_of[s[0]] != self.patch_of[s[1]]]

    def __len__(self) -> int:
        return len(self.degrees)

    def coarser(self, by: int) -> Patches:
        """The same patches and nodes with features of degrees that are lower by so much."""
        found = copy.copy(self)
        found.degrees = self.degrees - by
        found.batches = tuple(self._lowered(batch, by) for batch in self.batches)
        found.table = found._table()
        found._mixing = {
            degree - by: _first(mixing, degree - by, len(self.cut.grid.lower))
            for degree, mixing in self._mixing.items()
        }
        return found

    def _lowered(self, batch: Batch, by: int) -> Batch:
        degree = batch.degree - by
        mixing = _first(batch.mixing, degree, batch.x.shape[-1])
        return replace(batch, degree=degree, mixing=mixing)

    # Making them.

    def _sides(self) -> Iterator[tuple[Cell, Cell, Array, Array]]:
        """(cell, other, corners, normal) of the parts of sides that leaves share in the domain."""
        for cell, other, axis, side in touching(self.leaves):
            normal = np.zeros(len(cell.place))
            normal[axis] = side
            for corners in self.cut.shared(cell, other, axis, side):
                yield cell, other, corners, normal

    def _rules(self, kept, volume) -> tuple[list[Array], list[Array]]:
        """The rule of each patch, those of its cells together."""
        x, w = ([[] for _ in self.home] for _ in range(2))
        for cell in kept:
            x[self.patch_of[cell]].append(volume[cell][0])
            w[self.patch_of[cell]].append(volume[cell][1])
        return [np.concatenate(parts) for parts in x], [np.concatenate(parts) for parts in w]

    def _boxes(self) -> tuple[Array, Array]:
        """Centre and half edges of the box that each patch fills, whatever its degree."""
        lower, upper = (
            np.full((len(self), len(self.cut.grid.lower)), v) for v in (np.inf, -np.inf)
        )
        for cell, k in self.patch_of.items():
            low, high = self.cut.bounds(cell)
            lower[k], upper[k] = np.minimum(lower[k], low), np.maximum(upper[k], high)
        return (lower + upper) / 2, (upper - lower) / 2

    def _batches(self, x: Sequence[Array], w: Sequence[Array]) -> Iterator[Batch]:
        # Rules of about the same number of nodes go together.
        size = np.ceil(2 * np.log2([len(part) for part in w])).astype(int)
        for degree, nodes in sorted(set(zip(self.degrees.tolist(), size.tolist(), strict=True))):
            members = np.flatnonzero((self.degrees == degree) & (size == nodes))
            chosen = [(x[int(k)], w[int(k)]) for k in members]
            most = max(len(weights) for _, weights in chosen)
            places = np.stack([_filled(part, most, part[:1]) for part, _ in chosen])
            weights = np.stack([_filled(part, most, 0.0) for _, part in chosen])
            z = (places - self.centre[members, None]) / self.half[members, None]
            mixing = polynomials.orthonormal(z, weights, int(degree))
            yield Batch(int(degree), members, mixing, places, weights)

    def _table(self) -> PatchTable:
        mixing: dict[int, Array] = {}
        for batch in self.batches:
            mixing |= dict(zip(batch.members.tolist(), batch.mixing, strict=True))
        grid = self.cut.grid
        return PatchTable(
            np.array(grid.lower),
            np.array(grid.size),
            np.array([[c.level, *c.place, k] for c, k in self.patch_of.items()]),
            self.degrees,
            self.centre,
            self.half,
            [mixing[k] for k in range(len(self))],
        )

    # Asking them.

    def features(
        self, which: Int[Array, " b"], x: Float[Array, "b q d"], slopes: bool = True
    ) -> tuple[Float[Array, "b q n"], Float[Array, "b q n _d"]]:
        """Features, and their gradients, of patches of one degree, each at its own points."""
        degree = int(self.degrees[which[0]])
        mixing = self._mixing[degree][self.rank[which]]
        half = self.half[which, None]
        z = (x - self.centre[which, None]) / half
        values, derived = polynomials.features(z, mixing, degree, slopes)
        if not slopes:
            return values, np.zeros((*values.shape, 0))
        gradients = [d / half[..., a : a + 1] for a, d in enumerate(derived)]
        return values, np.stack(gradients, axis=-1)

    def projected(
        self,
        field: Callable[[Array], Array],
        which: Sequence[int],
        tolerance: float,
        size: float,
        largest: Float[Array, " m"],
    ) -> Iterator[tuple[int, Float[Array, "n m"]]]:
        """The L² projection of a field that jumps onto some patches and those beside them.

        `tolerance` is relative to the field's norm, `size`; `largest` are its largest values.
        """
        asked = set(which)
        beside = [(self.patch_of[c], self.patch_of[other]) for c, other, *_ in self._side_list]
        # A jump may reach into a patch without passing any of its nodes.
        patches = np.array(sorted(asked.union(*(p for p in beside if asked.intersection(p)))))
        number = {int(k): i for i, k in enumerate(patches)}
        cells = [cell for cell, k in self.patch_of.items() if k in number]
        lower, upper = np.array([self.cut.grid.box(cell) for cell in cells]).swapaxes(0, 1)
        cut = np.array([self.cut.kind(cell) != "whole" for cell in cells])
        owner = np.array([number[self.patch_of[cell]] for cell in cells])
        degree = int(self.degrees[patches].max())
        most = polynomials.count(lower.shape[1], degree)
        mixing = np.zeros((len(patches), most, most))
        counts = [len(self.table.mixing[k]) for k in patches]
        for i, n in enumerate(counts):
            mixing[i, :n, :n] = self._of_products(int(patches[i]))
        inside = lambda x: self.cut.domain._inside(x, 0.0)
        seen = Looked(field, inside, largest, tolerance)
        jumps = Jumps(seen, self.centre[patches], self.half[patches], degree)
        boxes = Boxes(lower, upper - lower, owner, cut)
        heads = jumps.projected(boxes, mixing, JUMP_SHARE * tolerance * size)
        for k, head, n in zip(patches.tolist(), heads, counts, strict=True):
            yield k, head[:n]

    def _of_products(self, patch: int) -> Float[Array, "n n"]:
        """How products of Legendre's polynomials on its box make up the features of a patch."""
        degree, box = int(self.degrees[patch]), (self.centre[patch], self.half[patch])
        grid = np.meshgrid(*[rules.gauss(degree + 1)[0] * 2 - 1] * len(box[0]), indexing="ij")
        z = np.stack(grid, axis=-1).reshape(-1, len(box[0]))
        along, powers = legvander(z, degree), polynomials.exponents(z.shape[1], degree)
        products = np.prod([along[:, a, powers[:, a]] for a in range(z.shape[1])], axis=0)
        features, _ = self.features(np.array([patch]), (box[0] + z * box[1])[None], slopes=False)
        return np.linalg.lstsq(products, features[0])[0]

    @cached_property
    def inner_faces(self) -> tuple[Faces, ...]:
        """Where patches meet, in batches."""
        groups = defaultdict(list)
        for cell, other, corners, normal in self._side_list:
            i, j = self.patch_of[cell], self.patch_of[other]
            degrees = int(self.degrees[i]), int(self.degrees[j])
            x, w = rules.on_side(corners, max(degrees) + 1 + EXTRA)
            groups[*degrees, len(w)].append((i, j, x, w, np.tile(normal, (len(w), 1))))
        return tuple(self._stacked(found) for _, found in sorted(groups.items()))

    @cached_property
    def outer_faces(self) -> tuple[Faces, ...]:
        """Pieces of the domain's boundary, in batches."""
        groups = defaultdict(list)
        for cell in self.leaves:
            k = self.patch_of[cell]
            for piece in self.cut.pieces(cell):
                x, normal, w = rules.on_piece(piece, int(self.degrees[k]) + 1 + EXTRA)
                groups[int(self.degrees[k]), len(w)].append((k, piece.segment, x, w, normal))
        return tuple(self._stacked(found, True) for _, found in sorted(groups.items()))

    def _stacked(self, found: list, boundary: bool = False) -> Faces:
        inner, second, x, w, normal = zip(*found, strict=True)
        arrays = np.stack(x), np.stack(w), np.stack(normal)
        if boundary:
            return Faces(np.array(inner), None, *arrays, segments=tuple(second))
        return Faces(np.array(inner), np.array(second), *arrays)


def _first(mixing: Float[Array, "b n n"], degree: int, dim: int) -> Float[Array, "b _n _n"]:
    """What describes the features up to a degree, which need none of those above."""
    n = polynomials.count(dim, degree)
    return mixing[:, :n, :n]


def _filled(values: Array, length: int, by) -> Array:
    """An array, lengthened with one value."""
    missing = length - len(values)
    if not missing:
        return values
    return np.concatenate([values, np.broadcast_to(by, (missing, *values.shape[1:]))])


def _joined(cut: CutCells, kept, volume, sides) -> dict[Cell, Cell]:
    """The leaf whose patch each leaf belongs to: itself, unless only a sliver is left of it."""
    owner = {cell: cell for cell in kept}
    lengths: dict[Cell, dict[Cell, float]] = defaultdict(lambda: defaultdict(float))
    for cell, other, corners, _ in sides:
        length = float(rules.on_side(corners, 1)[1].sum())
        lengths[cell][other] += length
        lengths[other][cell] += length

    def part(cell: Cell) -> float:
        return float(volume[cell][1].sum() / np.prod(cut.grid.edges(cell)))

    slivers = [cell for cell in kept if cut.kind(cell) == "cut" and part(cell) < SLIVER]
    for cell in sorted(slivers, key=part):
        beside = {
            c: s for c, s in lengths[cell].items() if owner[c] != cell and owner[c] not in slivers
        }
        if beside:
            owner[cell] = owner[max(sorted(beside), key=lambda c: beside[c])]
    return owner
