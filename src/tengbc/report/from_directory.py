"""Reports from what a run directory holds, without the problem and without JAX."""

import json
from pathlib import Path
from typing import Any

from tengbc.errors import UsageError
from tengbc.report.pages import report_page
from tengbc.storage.atomic import write_atomically
from tengbc.storage.history_file import STEP_COLUMNS, read_history

PAGE, DATA = "report.html", "report-data.json"
FORMAT, VERSION = "tengbc-report", 2
"""What report-data.json calls itself; the number grows when an older program could not read it."""


def remake(directory: str | Path, path: str | Path | None = None) -> Path:
    """Write report.html again, from report-data.json or else from summary.json and history.csv."""
    directory = Path(directory)
    path = directory / PAGE if path is None else Path(path)
    write_atomically(path, report_page(read_run(directory)).encode())
    return path


def read_run(directory: Path) -> dict[str, Any]:
    """What a report shows of a finished run; without pictures where none were stored."""
    if not directory.is_dir():
        raise UsageError(f"There is no directory {directory}; name one that `tengbc run` wrote.")
    stored = directory / DATA
    if stored.is_file():
        data = _json(stored)
        if data.get("format") != FORMAT or data.get("version") != VERSION:
            raise UsageError(
                f"{stored} is not what this version of tengbc wrote; remove it, and the report is "
                f"made from summary.json and history.csv."
            )
        return data
    summary = directory / "summary.json"
    if not summary.is_file():
        raise UsageError(
            f"{directory} holds no finished run (no summary.json); name a directory that "
            f"`tengbc run --out` wrote."
        )
    content = _json(summary)
    if not isinstance(content.get("outcome"), str):
        raise UsageError(f"{summary} does not say how the run ended; run the problem again.")
    return {
        "written": None,
        "command": None,
        "summary": content,
        "problem": None,
        "estimate": None,
        "history": _history(directory / "history.csv", content.get("march")),
        "pictures": None,
    }


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read ({error}); run the problem again.") from None
    if not isinstance(content, dict):
        raise UsageError(f"{path} holds no JSON object; run the problem again.")
    return content


def _history(path: Path, march: str | None) -> dict[str, Any]:
    """The answer's own curves: a run's companions stand in the same file."""
    rows = read_history(path, march)

    def column(name: str) -> list[float | None]:
        return [float(row[name]) if row.get(name) else None for row in rows]

    names = [name for name in (rows[0] if rows else {}) if name not in STEP_COLUMNS]
    measured = {name: column(name) for name in names}
    return {"steps": len(rows), "time": column("time"), "measured": measured}
