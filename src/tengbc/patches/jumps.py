"""Integrals of fields that jump against polynomials: lines are cut where the field jumps.

A box is integrated along lines, along the axis that jumps cross most. Where the field jumps on a
line is found by bisection, and so is where the jump meets the ends of the lines, so that the
integrand is smooth between these places. Boxes are halved as long as their parts say something else
than the whole. To a cell that the domain cuts, its boundary is one more place where a field jumps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.polynomial.legendre import legvander

from tengbc.networks import polynomials
from tengbc.patches import rules
from tengbc.patches.breaks import Lines, Looked

Array = np.ndarray
EXTRA = 2
"""Nodes along an axis more than the degree."""
ENDS = 1e-12
"""A box is looked at this near its sides, in units of its edges, but not on them, where it may be
anyone's guess which of two values holds."""
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
        return Boxes(lower.reshape(-1, dim), self.size[each] / 2, self.patch[each], self.cut[each])


class Jumps:
    """∫ field·P over boxes, P products of Legendre's polynomials on the box of each one's patch.

    `centre` and `half` are those of the patches.
    """

    def __init__(
        self, field: Looked, centre: Float[Array, "p d"], half: Float[Array, "p d"], degree: int
    ):
        self.field, self.centre, self.half, self.degree = field, centre, half, degree
        self.powers = polynomials.exponents(centre.shape[1], degree)
        self.nodes, self.weights = rules.gauss(degree + EXTRA)
        self.looks = np.array([ENDS, *self.nodes, 1.0 - ENDS])

    def projected(
        self, boxes: Boxes, mixing: Float[Array, "p n n"], close: float
    ) -> Float[Array, "p n m"]:
        """∫ field·φ for the features φ of all patches, boxes halved while they differ by that."""
        before, simple = self.moments(boxes)
        found = np.zeros((len(mixing), *before.shape[1:]))
        # The mean of Σφ² over a patch is n/|patch|, and no patch is larger than its box.
        features = np.sqrt(mixing.shape[1] / np.prod(2 * self.half, axis=1))
        features *= float(np.linalg.norm(self.field.scale[:-1])) / UNSEEN
        for _ in range(DEEPEST):
            points, parts = self.field.points, boxes.halved()
            each, plain = self.moments(parts)
            family = each.reshape(len(boxes), -1, *before.shape[1:])
            sums = family.sum(axis=1)
            apart = np.swapaxes(mixing[boxes.patch], 1, 2) @ (sums - before)
            apart = np.linalg.norm(apart, axis=(1, 2))
            unseen = np.prod(boxes.size, axis=1) * features[boxes.patch]
            apart = np.maximum(apart, np.where(simple, 0.0, unseen))
            again = apart > close
            used = max(1, self.field.points - points)
            room = (MOST - self.field.points) * len(boxes) // used
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
            each = np.ones(len(boxes))
            lines = Lines(whole, whole, boxes.lower, boxes.size[:, 0], 0, each, boxes.cut)
            return self._along(boxes, lines)
        places = np.stack(np.meshgrid(self.looks, self.looks, indexing="ij"), axis=-1)
        x = boxes.lower[:, None, None] + places * boxes.size[:, None, None]
        values = self.field.values(x, boxes.cut)
        changes = [self.field.change(values, 1 + axis) for axis in range(2)]
        upright = changes[1].sum(axis=(1, 2)) > changes[0].sum(axis=(1, 2))
        found = np.zeros((len(boxes), len(self.powers), self.field.components))
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
        cut, length = boxes.cut[twice], boxes.size[twice, other]
        edges = Lines(twice, twice, start, length, other, np.ones(len(twice)), cut)
        seen = np.concatenate([np.take(values, end, axis=1 + axis) for end in (0, -1)])
        edge, places, _ = self.field.breaks(edges, self.looks, seen)
        box, first, last = _pieces(len(boxes), twice[edge], places)
        t = first[:, None] + (last - first)[:, None] * self.looks
        # The sides of a strip, as near as its place is known.
        near = np.minimum(2 * self.field.near, (last - first) / 4)
        t[:, 0] += np.where(first > 0.0, near, 0.0)
        t[:, -1] -= np.where(last < 1.0, near, 0.0)
        weight = (last - first)[:, None] * np.array([0.0, *self.weights, 0.0])
        strip = np.repeat(np.arange(len(box)), len(self.looks))
        box = box[strip]
        start = boxes.lower[box]
        start[:, other] += t.ravel() * boxes.size[box, other]
        weight = weight.ravel() * boxes.size[box, other]
        return Lines(box, strip, start, boxes.size[box, axis], axis, weight, boxes.cut[box])

    def _along(self, boxes: Boxes, lines: Lines) -> tuple[Float[Array, "b n m"], Bool[Array, " b"]]:
        """∫ field·P over the lines of boxes, each cut where the field jumps, and what is simple."""
        every, axis = np.arange(len(lines.box)), lines.axis
        looks = np.broadcast_to(self.looks, (len(every), len(self.looks)))
        seen = self.field.values(lines.at(every, looks), lines.cut)
        line, place, rim = self.field.breaks(lines, self.looks, seen)
        simple = _simple(lines, line, place, rim, len(boxes))
        line, first, last = _pieces(len(every), line, place)
        s = first[:, None] + (last - first)[:, None] * self.nodes
        x = lines.at(line, s)
        whole, used = last - first == 1.0, lines.weight[line] > 0
        values = np.zeros((*s.shape, seen.shape[-1]))
        values[whole] = seen[line[whole], 1:-1]
        broken = used & ~whole
        values[broken] = self.field.values(x[broken], lines.cut[line[broken]])
        patch = boxes.patch[lines.box]
        of_line = patch[line][:, None]
        z = (x[..., axis] - self.centre[of_line, axis]) / self.half[of_line, axis]
        features = legvander(z, self.degree)
        weight = (last - first) * (lines.length * lines.weight)[line]
        weighted = (weight[:, None] * self.weights)[..., None] * values[..., :-1]
        pieces = np.swapaxes(features, 1, 2) @ weighted
        sums = np.add.reduceat(pieces, np.searchsorted(line, every))
        if len(self.powers[0]) == 1:
            return sums, simple
        across = 1 - axis
        z = (lines.start[:, across] - self.centre[patch, across]) / self.half[patch, across]
        features = legvander(z, self.degree)
        products = sums[:, self.powers[:, axis]] * features[:, self.powers[:, across], None]
        first = np.searchsorted(lines.box, np.arange(len(boxes)))
        return np.add.reduceat(products, first), simple


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
