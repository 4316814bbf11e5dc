"""Integrals of fields that jump against polynomials: lines are cut where the field jumps.

A box is integrated along lines, along the axis that jumps cross most. Where the field jumps on a
line is found by bisection, and so is where the jump meets the ends of the lines, so that the
integrand is smooth between these places. Boxes are halved as long as their parts say something else
than the whole. To a cell that the domain cuts, its boundary is one more place where a field jumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.networks import polynomials
from tengbc.patches import rules

Array = np.ndarray
Field = Callable[[Float[Array, "n d"]], Array]
EXTRA = 2
"""Nodes along an axis more than the degree."""
PLACE = 1e-3
"""Jumps are located to this part of the tolerance, in units of a box's edge."""
ENDS = 1e-12
"""A box is looked at this near its sides, in units of its edges, but not on them, where it may be
anyone's guess which of two values holds."""
FLAT = 1e-3
"""What changes less than this part of the tolerance, in units of the field's size, is no jump."""
STAYS = {4: 1 / 8, 8: 1 / 2}
"""After so many bisections a jump has kept more than this part of the height it had at the last
such count. What is smooth has kept a sixteenth each time, and is sorted out at first, if it can."""
FEW = 6
"""Where a line seems to have more jumps than this, it is not cut: boxes are halved instead."""
ROUNDS, REST = 3, 0.1
"""How often another jump is looked for beside one, if that part of its height is left there."""
DEEPEST = 30
"""How often a box may be halved."""
SHORT = 1e-9
"""What jumps nearer to the end of a line, in units of its length, does so by round-off."""
UNSEEN = 100.0
"""In a box that is not simple what was not seen may fill its area divided by this."""
MOST = 10_000_000
"""Points at which a field is looked at, about: one that is rough everywhere comes to no end."""


@dataclass(frozen=True)
class Boxes:
    """Boxes, the patch to which each of them belongs, and whether the domain may cut it."""

    lower: Float[Array, "b d"]
    size: Float[Array, "b d"]
    patch: Int[Array, " b"]
    cut: Bool[Array, " b"]

    def __len__(self) -> int:
        return len(self.patch)

    def chosen(self, which: Array) -> Boxes:
        """Some of them."""
        return Boxes(self.lower[which], self.size[which], self.patch[which], self.cut[which])

    def halved(self) -> Boxes:
        """The halves along every axis, those of one box one after the other."""
        dim = self.lower.shape[1]
        shifts = np.array(np.meshgrid(*[[0.0, 0.5]] * dim, indexing="ij")).reshape(dim, -1).T
        lower = self.lower[:, None] + shifts * self.size[:, None]
        each = np.repeat(np.arange(len(self)), len(shifts))
        return Boxes(
            lower.reshape(-1, dim), self.size[each] / 2, self.patch[each], self.cut[each]
        )


@dataclass(frozen=True)
class Lines:
    """Lines through boxes along one axis, with a weight each, those of one box together.

    On the lines of one strip a field jumps equally often, if the box is a simple one.
    """

    box: Int[Array, " l"]
    strip: Int[Array, " l"]
    start: Float[Array, "l d"]
    length: Float[Array, " l"]
    axis: int
    weight: Float[Array, " l"]

    def at(self, which: Array, s: Array) -> Float[Array, "... d"]:
        """Points on some of them, s ∈ [0, 1]."""
        extra = (1,) * (s.ndim - 1)
        x = np.empty((*s.shape, self.start.shape[1]))
        x[...] = self.start[which].reshape(-1, *extra, self.start.shape[1])
        x[..., self.axis] += s * self.length[which].reshape(-1, *extra)
        return x


class Jumps:
    """∫ field·P over boxes, P the products of Legendre's polynomials of the patch of each.

    `inside` tells which points belong to the domain, `centre` and `half` are those of the patches.
    """

    def __init__(
        self,
        field: Field,
        inside: Callable[[Array], Array],
        centre: Float[Array, "p d"],
        half: Float[Array, "p d"],
        degree: int,
        tolerance: float,
    ):
        self.field, self.inside, self.degree = field, inside, degree
        self.centre, self.half = centre, half
        self.powers = polynomials.exponents(centre.shape[1], degree)
        self.nodes, self.weights = rules.gauss(degree + EXTRA)
        self.looks = np.array([ENDS, *self.nodes, 1.0 - ENDS])
        self.flat = FLAT * tolerance
        self.steps = max(*STAYS, math.ceil(-math.log2(PLACE * tolerance)))
        self.scale: Array | None = None
        self.height, self.looked = 0.0, 0

    def projected(
        self, boxes: Boxes, mixing: Float[Array, "p n n"], close: float
    ) -> Float[Array, "p n m"]:
        """∫ field·φ for the features φ of every patch, boxes halved while they differ by `close`."""
        before, simple = self.moments(boxes)
        found = np.zeros((len(mixing), *before.shape[1:]))
        # The mean of Σφ² over a patch is n/|patch|, and no patch is larger than its box.
        features = np.sqrt(mixing.shape[1] / np.prod(2 * self.half, axis=1))
        for _ in range(DEEPEST):
            looked, parts = self.looked, boxes.halved()
            each, plain = self.moments(parts)
            family = each.reshape(len(boxes), -1, *before.shape[1:])
            sums = family.sum(axis=1)
            apart = np.swapaxes(mixing[boxes.patch], 1, 2) @ (sums - before)
            apart = np.linalg.norm(apart, axis=(1, 2))
            unseen = np.prod(boxes.size, axis=1) * features[boxes.patch] * self.height / UNSEEN
            apart = np.maximum(apart, np.where(simple, 0.0, unseen))
            again = apart > close
            room = (MOST - self.looked) * len(boxes) // (self.looked - looked)
            again[np.argsort(-apart)[max(0, room) :]] = False
            np.add.at(found, boxes.patch[~again], sums[~again])
            if not again.any():
                break
            chosen = np.repeat(again, family.shape[1])
            boxes, before, simple = parts.chosen(chosen), each[chosen], plain[chosen]
        else:
            np.add.at(found, boxes.patch, before)
        return np.swapaxes(mixing, 1, 2) @ found

    # The integral over one box.

    def moments(self, boxes: Boxes) -> tuple[Float[Array, "b n m"], Bool[Array, " b"]]:
        """∫ field·P over boxes, by lines along the axis of which more is seen to change.

        And which boxes are simple: what is seen there of jumps fits together.
        """
        if boxes.lower.shape[1] == 1:
            whole = np.arange(len(boxes))
            return self._along(
                boxes, Lines(whole, whole, boxes.lower, boxes.size[:, 0], 0, np.ones(len(boxes)))
            )
        places = np.stack(np.meshgrid(self.looks, self.looks, indexing="ij"), axis=-1)
        x = boxes.lower[:, None, None] + places * boxes.size[:, None, None]
        values = self._values(x, boxes.cut)
        changes = [self._change(values, 1 + axis) for axis in range(2)]
        upright = changes[1].sum(axis=(1, 2)) > changes[0].sum(axis=(1, 2))
        found = np.zeros((len(boxes), len(self.powers), values.shape[-1] - 1))
        simple = np.ones(len(boxes), dtype=bool)
        for axis, which in enumerate((~upright, upright)):
            if which.any():
                some = boxes.chosen(which)
                lines = self._lines(some, axis, values[which])
                found[which], simple[which] = self._along(some, lines)
        return found, simple

    def _lines(self, boxes: Boxes, axis: int, values: Float[Array, "b l l m"]) -> Lines:
        """Lines along an axis, at Gauss's nodes between the places where jumps meet their ends.

        The sides of the strips in between are among them, with no weight.
        """
        other, twice = 1 - axis, np.tile(np.arange(len(boxes)), 2)
        start = boxes.lower[twice]
        start[:, axis] += np.repeat(self.looks[[0, -1]], len(boxes)) * boxes.size[twice, axis]
        edges = Lines(twice, twice, start, boxes.size[twice, other], other, np.ones(len(twice)))
        seen = np.concatenate([np.take(values, end, axis=1 + axis) for end in (0, -1)])
        edge, places, _ = self._breaks(edges, boxes.cut[twice], seen)
        box, first, last = _pieces(len(boxes), twice[edge], places)
        t = first[:, None] + (last - first)[:, None] * self.looks
        # The sides of a strip, as near as its place is known.
        near = np.minimum(2 * 0.5**self.steps, (last - first) / 4)
        t[:, 0] += np.where(first > 0.0, near, 0.0)
        t[:, -1] -= np.where(last < 1.0, near, 0.0)
        weight = (last - first)[:, None] * np.array([0.0, *self.weights, 0.0])
        strip = np.repeat(np.arange(len(box)), len(self.looks))
        box = box[strip]
        start = boxes.lower[box]
        start[:, other] += t.ravel() * boxes.size[box, other]
        weight = weight.ravel() * boxes.size[box, other]
        return Lines(box, strip, start, boxes.size[box, axis], axis, weight)

    def _along(
        self, boxes: Boxes, lines: Lines
    ) -> tuple[Float[Array, "b n m"], Bool[Array, " b"]]:
        """∫ field·P over the lines of boxes, each cut where the field jumps, and what is simple."""
        every, axis = np.arange(len(lines.box)), lines.axis
        looks = np.broadcast_to(self.looks, (len(every), len(self.looks)))
        cut = boxes.cut[lines.box]
        seen = self._values(lines.at(every, looks), cut)
        line, place, rim = self._breaks(lines, cut, seen)
        simple = _simple(lines, line, place, rim, len(boxes))
        line, first, last = _pieces(len(every), line, place)
        s = first[:, None] + (last - first)[:, None] * self.nodes
        x = lines.at(line, s)
        broken = (last - first < 1.0) & (lines.weight[line] > 0)
        values = np.zeros((*s.shape, seen.shape[-1]))
        values[last - first == 1.0] = seen[line[last - first == 1.0], 1:-1]
        if broken.any():
            values[broken] = self._values(x[broken], cut[line[broken]])
        patch = boxes.patch[lines.box]
        of_line = patch[line][:, None]
        z = (x[..., axis] - self.centre[of_line, axis]) / self.half[of_line, axis]
        features, _ = polynomials.legendre(z, self.degree)
        weight = (last - first) * (lines.length * lines.weight)[line]
        weighted = (weight[:, None] * self.weights)[..., None] * values[..., : self._components]
        pieces = np.swapaxes(features, 1, 2) @ weighted
        sums = np.add.reduceat(pieces, np.searchsorted(line, every))
        if len(self.powers[0]) == 1:
            return sums, simple
        across = 1 - axis
        z = (lines.start[:, across] - self.centre[patch, across]) / self.half[patch, across]
        features, _ = polynomials.legendre(z, self.degree)
        products = sums[:, self.powers[:, axis]] * features[:, self.powers[:, across], None]
        first = np.searchsorted(lines.box, np.arange(len(boxes)))
        return np.add.reduceat(products, first), simple

    # Where the field jumps.

    def _breaks(self, lines: Lines, cut: Bool[Array, " l"], seen: Float[Array, "l q m"]):
        """(line, s) of the jumps on lines, seen at the looks, and which are the domain's rim."""
        line, k = np.nonzero(self._change(seen, 1) > self.flat)
        spans = line, self.looks[k], self.looks[k + 1], seen[line, k], seen[line, k + 1]
        found = [(line[:0], self.looks[:0], line[:0] > 0)]
        for _ in range(ROUNDS):
            (line, first, last, start, end), (low, high, below, above) = self._bisected(
                lines, cut, spans
            )
            if not len(line):
                break
            found.append((line, (low + high) / 2, below[:, -1] != above[:, -1]))
            # What the field does beside the jump: there may be another one.
            sides = (line, first, low, start, below), (line, high, last, above, end)
            spans = tuple(np.concatenate(pair) for pair in zip(*sides, strict=True))
            height = np.tile(self._size(above - below), 2)
            rest = self._size(spans[4] - spans[3]) > np.maximum(self.flat, REST * height)
            spans = tuple(part[rest] for part in spans)
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    def _bisected(self, lines: Lines, cut: Bool[Array, " l"], spans):
        """The spans (line, first, last, value, value) with a jump, and the same close around it."""
        line, low, high, below, above = spans
        height = self._size(above - below)
        for step in range(self.steps):
            if not len(line):
                break
            middle = (low + high) / 2
            here = self._values(lines.at(line, middle), cut[line])
            lower = self._size(here - below) >= self._size(above - here)
            low, high = np.where(lower, low, middle), np.where(lower, middle, high)
            below = np.where(lower[:, None], below, here)
            above = np.where(lower[:, None], here, above)
            if step + 1 in STAYS:
                now = self._size(above - below)
                stays = now > STAYS[step + 1] * height
                stays &= np.bincount(line[stays], minlength=len(cut))[line] <= FEW
                spans = tuple(part[stays] for part in spans)
                line, low, high, height = line[stays], low[stays], high[stays], now[stays]
                below, above = below[stays], above[stays]
        return spans, (low, high, below, above)

    def _change(self, values: Array, axis: int) -> Array:
        """By how much a field changes from one look to the next."""
        return self._size(np.diff(values, axis=axis))

    def _size(self, values: Float[Array, "... m"]) -> Float[Array, "..."]:
        """The largest component, each in units of its own size."""
        return np.abs(values / self.scale).max(axis=-1)

    def _values(self, x: Float[Array, "... d"], cut: Bool[Array, " b"]) -> Float[Array, "... m"]:
        """The field, zero outside the domain, and as last component whether points are inside."""
        points = x.reshape(-1, x.shape[-1])
        within = np.ones(len(points), dtype=bool)
        if cut.any():
            doubtful = np.repeat(cut, len(points) // len(cut))
            within[doubtful] = self.inside(points[doubtful])
        known = self._evaluated(points[within])
        values = np.zeros((len(points), known.shape[1] + 1))
        values[within, :-1], values[:, -1] = known, within
        self._components = known.shape[1]
        if self.scale is None:
            size = np.abs(values).max(axis=0)
            self.scale = np.where(size > 0, size, 1.0)
            self.height = float(np.linalg.norm(size[:-1]))
        return values.reshape(*x.shape[:-1], -1)

    def _evaluated(self, x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        """The field at points, filled up to few different numbers of them: each may be compiled."""
        if not len(x):
            return np.zeros((0, self._components))
        self.looked += len(x)
        filled = 2 ** math.ceil(math.log2(max(len(x), 64)))
        more = np.concatenate([x, np.broadcast_to(x[-1:], (filled - len(x), x.shape[1]))])
        return self.field(more).reshape(filled, -1)[: len(x)]


def _pieces(count: int, line: Int[Array, " k"], s: Float[Array, " k"]):
    """(line, first, last) of the pieces of [0, 1] between places, for each of some lines."""
    owner = np.concatenate([np.arange(count), line, np.arange(count)])
    places = np.concatenate([np.zeros(count), s, np.ones(count)])
    order = np.lexsort((places, owner))
    owner, places = owner[order], places[order]
    kept = (owner[1:] == owner[:-1]) & (places[1:] > places[:-1])
    return owner[:-1][kept], places[:-1][kept], places[1:][kept]


def _simple(
    lines: Lines, line: Int[Array, " k"], s: Float[Array, " k"], rim: Bool[Array, " k"], boxes: int
) -> Bool[Array, " b"]:
    """In which boxes the lines of every strip meet equally many jumps, and the rim as often."""
    simple, side = np.ones(boxes, dtype=bool), lines.weight == 0
    within = (s > SHORT) & (s < 1.0 - SHORT)
    for kind in (rim, ~rim):
        more = np.diff(np.bincount(line[within & kind], minlength=len(side)))
        # That a jump ends in the corner of a box is nothing unusual, that one begins there is.
        odd = np.where(side[1:], more > 0, np.where(side[:-1], more < 0, more != 0))
        simple[lines.box[1:][odd & (lines.strip[1:] == lines.strip[:-1])]] = False
    return simple
