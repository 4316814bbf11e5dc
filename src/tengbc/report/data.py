"""All that a report shows, as plain JSON: `report-data.json`, from which it can be remade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tengbc.history import Record
from tengbc.report.describe import describe_problem
from tengbc.report.encoding import plain
from tengbc.report.pictures import pictures
from tengbc.report.remake import FORMAT, VERSION
from tengbc.solution import Solution

MOST_STEPS = 800
"""Of a longer history every k-th step is drawn."""


def report_data(
    solution: Solution, summary: dict[str, Any], command: str | None, written: str
) -> dict[str, Any]:
    """The summary, the problem, the history and the pictures of a run."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "written": written,
        "command": command,
        "summary": summary,
        "problem": describe_problem(solution.problem),
        "estimate": _estimate(solution),
        "history": history_data(solution.history),
        "pictures": pictures(solution),
    }


def history_data(history: Sequence[Record]) -> dict[str, Any]:
    """Columns of the history, thinned where it is long; the last step always stays."""
    stride = -(-len(history) // MOST_STEPS) or 1
    kept = [*history[::stride], *history[-1:]] if stride > 1 else list(history)
    names = list(dict.fromkeys(name for record in kept for name in record.measured))
    return plain(
        {
            "steps": len(history),
            "time": [record.time for record in kept],
            "measured": {name: [record.measured.get(name) for record in kept] for name in names},
        }
    )


def _estimate(solution: Solution) -> dict[str, Any] | None:
    known = np.flatnonzero(np.isfinite(solution.error_estimate))
    if not known.size:
        return None
    kept = known[:: -(-len(known) // MOST_STEPS)]
    return plain({"time": solution.times[kept], "value": solution.error_estimate[kept]})
