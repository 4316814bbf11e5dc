"""The records of a march as one table of numbers: a tenth of the memory of as many objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

import numpy as np
from jaxtyping import Float

from tengbc.solver.record import Record

WHOLE = ("step", "rank", "accepted", "rejected")
REAL = ("time", "residual", "condition", "error", "estimate")
COLUMNS = (*WHOLE, *REAL)
GROWTH = 2


class History(Sequence[Record]):
    """Records, one per step. Room for `expected` of them is taken with the first.

    So a march of known length holds as much memory at its start as at its end; one that is longer
    than expected doubles the room.
    """

    def __init__(self, records: Iterable[Record] = (), expected: int = 1):
        self.segments: tuple[str, ...] = ()
        self._rows, self._count, self._expected = np.empty((0, len(COLUMNS))), 0, max(expected, 1)
        for record in records:
            self.append(record)

    @classmethod
    def of_table(
        cls, segments: Sequence[str], table: Float[np.ndarray, "n c"], expected: int = 1
    ) -> History:
        """The history whose `table` that is."""
        history = cls(expected=expected)
        history.segments = tuple(segments)
        history._reserve(max(len(table), expected))
        history._rows[: len(table)], history._count = table, len(table)
        return history

    @property
    def table(self) -> Float[np.ndarray, "n c"]:
        """A row per record: COLUMNS, then the segments; NaN stands for what is not known."""
        return self._rows[: self._count]

    def append(self, record: Record) -> None:
        """One more step. Segments are those of the first record."""
        if self._count == 0:
            self.segments = tuple(record.boundary)
        if self._count == len(self._rows):
            self._reserve(max(self._expected, GROWTH * self._count))
        known = [getattr(record, name) for name in COLUMNS]
        known += [record.boundary.get(name) for name in self.segments]
        self._rows[self._count] = [np.nan if value is None else value for value in known]
        self._count += 1

    def _reserve(self, size: int) -> None:
        rows = np.full((size, len(COLUMNS) + len(self.segments)), np.nan)
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
        values = row.tolist()
        known = {
            name: int(value) if name in WHOLE else value
            for name, value in zip(COLUMNS, values, strict=False)
        }
        for name in ("error", "estimate"):
            if known[name] != known[name]:
                known[name] = None
        boundary = zip(self.segments, values[len(COLUMNS) :], strict=True)
        return Record(**known, boundary={name: value for name, value in boundary if value == value})
