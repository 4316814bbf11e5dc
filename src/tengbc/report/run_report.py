"""The report of a solution: one HTML file, which every run leaves in its directory."""

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengbc.report.data import report_data
from tengbc.report.from_directory import DATA, PAGE
from tengbc.report.pages import report_page
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


def leave_report(directory: Path, solution: Solution, content: dict[str, Any]) -> list[Path]:
    """Write report.html and its data; an error is printed, not raised, since the run is done."""
    command = shlex.join(["tengbc", *sys.argv[1:]])
    try:
        path = write_report(
            solution, directory / PAGE, command=command, content=content, keep_data=True
        )
    except Exception as error:  # a picture must never cost anyone their results
        print(f"tengbc: the report could not be made ({error}).", file=sys.stderr)
        return []
    return [path]
