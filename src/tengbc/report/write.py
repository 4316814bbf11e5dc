"""write_report(): a solution in, one HTML file out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengbc.report.data import report_data
from tengbc.report.remake import DATA, PAGE
from tengbc.report.single import report_page
from tengbc.solution import Solution
from tengbc.solution.measure import Errors
from tengbc.solution.summary import measure, summary
from tengbc.storage.atomic import write_atomically


def write_report(
    solution: Solution,
    path: str | Path,
    errors: Errors | None = None,
    seconds: dict[str, float] | None = None,
    command: str | None = None,
    *,
    content: dict[str, Any] | None = None,
    keep_data: bool = False,
) -> Path:
    """Write the report of a solution: one file that works offline, under 5 MB.

    **Arguments:**

    - `solution`, and the `path` of the file; for a directory, report.html in it.
    - `errors`: what was measured, if it was; else it is measured now where the truth is known.
    - `seconds`: where the time went, besides what the solution knows.
    - `command`: the command line that made it.
    - `content`: the summary, if there is one already. `keep_data`: also write report-data.json next
      to it, from which `tengbc report` can make the page again.
    """
    path = Path(path)
    path = path / PAGE if path.is_dir() else path
    if content is None:
        errors = measure(solution) if errors is None else errors
        content = summary(solution, errors, seconds or {})
    written = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")
    data = report_data(solution, content, command, written)
    if keep_data:
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
        write_atomically(path.with_name(DATA), text.encode())
    write_atomically(path, report_page(data).encode())
    return path
