"""Where a field jumps on lines: seen between two looks, and found by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Array = np.ndarray
PLACE = 1e-3
"""Jumps are located to this part of the tolerance, in units of a line's length."""
FLAT = 1e-3
"""What changes less than this part of the tolerance, in units of the field's size, is no jump."""
STAYS = {4: 1 / 8, 8: 1 / 2}
"""After so many bisections a jump has kept more than this part of the height it had at the last
such count. What is smooth has kept a sixteenth each time, and is sorted out at first, if it can."""
FEW = 6
"""Where a line seems to have more jumps than this, it is not cut: boxes are halved instead."""
ROUNDS, REST = 3, 0.1
"""How often another jump is looked for beside one, if that part of its height is left there."""
FEWEST_POINTS = 64


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
    cut: Bool[Array, " l"]
    """Whether the domain may cut them."""

    def at(self, which: Array, s: Array) -> Float[Array, "... d"]:
        """Points on some of them, s ∈ [0, 1]."""
        extra = (1,) * (s.ndim - 1)
        x = np.empty((*s.shape, self.start.shape[1]))
        x[...] = self.start[which].reshape(-1, *extra, self.start.shape[1])
        x[..., self.axis] += s * self.length[which].reshape(-1, *extra)
        return x


class Looked:
    """A field with jumps, zero outside the domain, whose rim is one of them.

    `inside` tells which points belong to the domain, `largest` how large the components are.
    """

    def __init__(
        self,
        field: Callable[[Float[Array, "n d"]], Array],
        inside: Callable[[Float[Array, "n d"]], Array],
        largest: Float[Array, " m"],
        tolerance: float,
    ):
        self.field, self.inside, self.components = field, inside, len(largest)
        self.scale = np.append(np.where(largest > 0, largest, 1.0), 1.0)
        self.flat = FLAT * tolerance
        self.steps = max(*STAYS, math.ceil(-math.log2(PLACE * tolerance)))
        self.points = 0
        """How many points were looked at."""

    @property
    def near(self) -> float:
        """How near the places of jumps are known, in units of a line's length."""
        return 0.5**self.steps

    def values(self, x: Float[Array, "... d"], cut: Bool[Array, " b"]) -> Float[Array, "... m"]:
        """The field, and as last component whether points are inside, of which `cut` may not be."""
        points = x.reshape(-1, x.shape[-1])
        within = np.ones(len(points), dtype=bool)
        if cut.any():
            doubtful = np.repeat(cut, len(points) // len(cut))
            within[doubtful] = self.inside(points[doubtful])
        values = np.zeros((len(points), self.components + 1))
        values[:, -1] = within
        if within.any():
            values[within, :-1] = self._evaluated(points[within])
        return values.reshape(*x.shape[:-1], self.components + 1)

    def _evaluated(self, x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        """The field at points, filled up to few different numbers of them: each may be compiled."""
        self.points += len(x)
        filled = 2 ** math.ceil(math.log2(max(len(x), FEWEST_POINTS)))
        more = np.concatenate([x, np.broadcast_to(x[-1:], (filled - len(x), x.shape[1]))])
        return self.field(more).reshape(filled, -1)[: len(x)]

    def change(self, values: Float[Array, "..."], axis: int) -> Float[Array, "..."]:
        """By how much a field changes from one point to the next."""
        return self._size(np.diff(values, axis=axis))

    def _size(self, values: Float[Array, "... m"]) -> Float[Array, "..."]:
        """The largest component, each in units of its own size."""
        return np.abs(values / self.scale).max(axis=-1)

    def breaks(
        self, lines: Lines, looks: Float[Array, " q"], seen: Float[Array, "l q m"]
    ) -> tuple[Int[Array, " k"], Float[Array, " k"], Bool[Array, " k"]]:
        """(line, s) of the jumps on lines, seen at the looks, and which are the domain's rim."""
        line, k = np.nonzero(self.change(seen, 1) > self.flat)
        spans = line, looks[k], looks[k + 1], seen[line, k], seen[line, k + 1]
        found = [(line[:0], looks[:0], line[:0] > 0)]
        for _ in range(ROUNDS):
            (line, first, last, start, end), (low, high, below, above) = self._bisected(
                lines, spans
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
        line, s, rim = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return line, s, rim

    def _bisected(self, lines: Lines, spans):
        """The spans (line, first, last, value, value) with a jump, and the same close around it."""
        line, low, high, below, above = spans
        height = self._size(above - below)
        for step in range(self.steps):
            if not len(line):
                break
            middle = (low + high) / 2
            here = self.values(lines.at(line, middle), lines.cut[line])
            lower = self._size(here - below) >= self._size(above - here)
            low, high = np.where(lower, low, middle), np.where(lower, middle, high)
            below = np.where(lower[:, None], below, here)
            above = np.where(lower[:, None], here, above)
            if step + 1 in STAYS:
                now = self._size(above - below)
                stays = now > STAYS[step + 1] * height
                stays &= np.bincount(line[stays], minlength=len(lines.cut))[line] <= FEW
                spans = tuple(part[stays] for part in spans)
                line, low, high, height = line[stays], low[stays], high[stays], now[stays]
                below, above = below[stays], above[stays]
        return spans, (low, high, below, above)
