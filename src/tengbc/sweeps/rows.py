"""row.json in a run's directory: the run's line of the sweep's table, written when all is done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tengbc.outcome import Outcome, outcome_named
from tengbc.storage.atomic import write_atomically
from tengbc.sweeps.quantities import time_keys

FILE = "row.json"
REFUSED, FAILED = "refused", "failed"
"""Outcomes of runs that ended without a solution: what was asked for cannot be, or a mistake."""
UNFINISHED = "not finished"
KEYS = ("outcome", "message", "error", "error_estimate", "seconds", "quantities")
Row = dict[str, Any]


def write_row(
    directory: Path, content: dict[str, Any], quantities: dict[str, dict[str, Any]]
) -> Row:
    """The row of a run with this summary and these quantities by time."""
    seconds = content.get("seconds", {}).get("total")
    errors = (content.get("relative_l2_max"), content.get("error_estimate_max"))
    said = content.get("message") or ""
    row: Row = dict(
        zip(KEYS, (content["outcome"], said, *errors, seconds, quantities), strict=True)
    )
    write_atomically(directory / FILE, (json.dumps(row, indent=1, allow_nan=False) + "\n").encode())
    return row


def read_row(directory: Path) -> Row | None:
    """The row of a run, None where it is not done."""
    try:
        row = json.loads((directory / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(row, dict) and set(row) == set(KEYS) and isinstance(row["quantities"], dict)
    if not known or (row["outcome"] == Outcome.OUT_OF_TIME.value and _went_on(directory)):
        return None
    return row


def _went_on(directory: Path) -> bool:
    """Whether `tengbc resume` has taken up a run that was out of time since its row was written."""
    from tengbc.runs.directory import read_summary

    return (read_summary(directory) or {}).get("outcome") != Outcome.OUT_OF_TIME.value


def whole(row: Row | None, quantities: Sequence[str], times: Sequence[float] | None) -> bool:
    """Whether a row has all that the study asks for; a run without a solution has no quantities."""
    if row is None:
        return False
    if row["outcome"] in (REFUSED, FAILED) or not solved_somehow(row["outcome"]):
        return True
    keys = set(time_keys(times))
    return all(keys <= set(row["quantities"].get(name, {})) for name in quantities)


def ended(outcome: object) -> bool:
    """Whether a sweep leaves a run with this outcome as it is: one out of time has had its time."""
    known = outcome_named(outcome)
    return known is not None and (not known.resumable or known is Outcome.OUT_OF_TIME)


def solved_somehow(outcome: object) -> bool:
    """Whether a run with this outcome has a solution worth asking for quantities."""
    known = outcome_named(outcome)
    return known is not None and known.verdict != "bad"
