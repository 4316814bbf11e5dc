"""What was measured after each step, under the quantity's own name, and its table of numbers.

The same names stand in histories, history.csv, figures and reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from jaxtyping import Float

GROWTH = 2


@dataclass(frozen=True)
class Quantity:
    """How a measured quantity is shown: its title, a sentence on what it is, and on which axis."""

    title: str
    caption: str = ""
    log: bool = True


QUANTITIES = {
    "fit_residual": Quantity(
        "Fit residual of each step",
        "What the least-squares fit of each step leaves, relative to the solution.",
    ),
    "boundary": Quantity(
        "Boundary residual",
        "Root mean square of what is left of each condition, by segment.",
    ),
    "rank": Quantity("Rank", log=False),
    "condition": Quantity(
        "Condition number",
        "Of the least-squares matrix; beyond 10¹⁶ nothing would be left of a double's digits.",
    ),
    "spectrum_tail": Quantity(
        "Tail of the spectrum",
        "The part of the solution in its shortest waves; where it grows, waves are added.",
    ),
    "waves": Quantity("Waves", "How many waves the solution is made of.", log=False),
    "compression": Quantity(
        "Compression", "How much closer than elsewhere points lie where they lie closest."
    ),
    "accepted": Quantity("Accepted iterations", log=False),
    "rejected": Quantity("Rejected iterations", log=False),
}
"""Quantities by name; "boundary_left" is shown as "boundary". A strategy may add its own."""


def quantity(name: str) -> Quantity:
    """How the quantity of that name is shown; an unknown one under its own name."""
    found = QUANTITIES.get(name) or QUANTITIES.get(name.split("_")[0])
    return found or Quantity((name[:1].upper() + name[1:]).replace("_", " "))


@dataclass(frozen=True)
class Record:
    """A step: its number, the time it led to, and what was measured there, by name."""

    step: int
    time: float
    measured: Mapping[str, float] = field(default_factory=dict)


class History(Sequence[Record]):
    """Records, one per step. Room for `expected` of them is taken with the first.

    So a march of known length holds as much memory at its start as at its end; one that is longer
    than expected doubles the room. A table of numbers takes a tenth of the memory of as many
    objects.
    """

    def __init__(self, records: Iterable[Record] = (), expected: int = 1):
        self.names: tuple[str, ...] = ()
        self._rows, self._count, self._expected = np.empty((0, 2)), 0, max(expected, 1)
        for record in records:
            self.append(record)

    @classmethod
    def of_table(
        cls, names: Sequence[str], table: Float[np.ndarray, "n c"], expected: int = 1
    ) -> History:
        """The history whose `names` and `table` those are."""
        history = cls(expected=expected)
        history.names = tuple(names)
        history._reserve(max(len(table), expected))
        history._rows[: len(table)], history._count = table, len(table)
        return history

    @property
    def table(self) -> Float[np.ndarray, "n c"]:
        """A row per record: step, time, then the quantities `names`; NaN for what is not known."""
        return self._rows[: self._count]

    def append(self, record: Record) -> None:
        """One more step. The names are those of the first record."""
        if self._count == 0:
            self.names = tuple(record.measured)
        if self._count == len(self._rows):
            self._reserve(max(self._expected, GROWTH * self._count))
        known = [record.measured.get(name, np.nan) for name in self.names]
        self._rows[self._count] = [record.step, record.time, *known]
        self._count += 1

    def _reserve(self, size: int) -> None:
        rows = np.full((size, 2 + len(self.names)), np.nan)
        if self._count:
            rows[: self._count] = self.table
        self._rows = rows

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        if isinstance(index, slice):
            return [self._record(row) for row in self.table[index]]
        return self._record(self.table[index])

    def _record(self, row: Float[np.ndarray, " c"]) -> Record:
        step, time, *values = row.tolist()
        measured = zip(self.names, values, strict=True)
        return Record(int(step), time, {name: v for name, v in measured if v == v})


def as_history(records: Sequence[Record]) -> History:
    """Records as a table, if they are not one."""
    return records if isinstance(records, History) else History(records, len(records))
