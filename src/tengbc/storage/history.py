"""The records of a run as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengbc.solver.history import COLUMNS, WHOLE, History
from tengbc.solver.record import Record


def columns(records: Sequence[Record]) -> tuple[list[str], dict[str, np.ndarray]]:
    """Segment names, and arrays of one entry per step; NaN stands for what is not known."""
    history = records if isinstance(records, History) else History(records, len(records))
    table = history.table
    arrays = {
        f"history.{name}": table[:, k].astype(np.int64 if name in WHOLE else np.float64)
        for k, name in enumerate(COLUMNS)
    }
    arrays["history.boundary"] = table[:, len(COLUMNS) :].copy()
    return list(history.segments), arrays


def records(segments: Sequence[str], tensors: dict[str, np.ndarray], expected: int = 1) -> History:
    """The history of those columns, with room for as many records as are expected."""
    known = np.stack([tensors[f"history.{name}"] for name in COLUMNS], axis=1)
    table = np.concatenate([known.astype(np.float64), tensors["history.boundary"]], axis=1)
    return History.of_table(segments, table, expected)
