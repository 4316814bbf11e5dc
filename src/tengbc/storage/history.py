"""The records of a run as columns of numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengbc.solver.record import Record

WHOLE = ("step", "rank", "accepted", "rejected")
REAL = ("time", "residual", "condition", "error", "estimate")


def columns(history: Sequence[Record]) -> tuple[list[str], dict[str, np.ndarray]]:
    """Segment names, and arrays of one entry per step; NaN stands for what is not known."""
    segments = list(dict.fromkeys(name for record in history for name in record.boundary))
    arrays = {
        name: np.array([getattr(record, name) for record in history], dtype=np.int64)
        for name in WHOLE
    }
    for name in REAL:
        arrays[name] = np.array([_known(getattr(record, name)) for record in history], dtype=float)
    boundary = [[record.boundary.get(name, np.nan) for name in segments] for record in history]
    arrays["boundary"] = np.array(boundary, dtype=float).reshape(len(history), len(segments))
    return segments, {f"history.{name}": array for name, array in arrays.items()}


def records(segments: Sequence[str], tensors: dict[str, np.ndarray]) -> tuple[Record, ...]:
    """The records of those columns."""
    arrays = {name: tensors[f"history.{name}"].tolist() for name in (*WHOLE, *REAL)}
    boundary = tensors["history.boundary"].tolist()
    return tuple(
        Record(
            arrays["step"][k],
            arrays["time"][k],
            arrays["residual"][k],
            arrays["rank"][k],
            arrays["condition"][k],
            {name: value for name, value in zip(segments, row, strict=True) if value == value},
            _or_none(arrays["error"][k]),
            _or_none(arrays["estimate"][k]),
            arrays["accepted"][k],
            arrays["rejected"][k],
        )
        for k, row in enumerate(boundary)
    )


def _known(value: float | None) -> float:
    return np.nan if value is None else value


def _or_none(value: float) -> float | None:
    return value if value == value else None
