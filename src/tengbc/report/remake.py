"""Reports from what a run directory holds, without the problem and without JAX."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from tengbc.errors import UsageError
from tengbc.report.single import report_page
from tengbc.storage.atomic import write_atomically

PAGE, DATA = "report.html", "report-data.json"


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
        if data.get("format") != "tengbc-report" or data.get("version") != 1:
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
        "history": _history(directory / "history.csv"),
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


def _history(path: Path) -> dict[str, Any]:
    rows: list[dict[str, str]] = []
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))

    def column(name: str) -> list[float | None]:
        return [float(row[name]) if row.get(name) else None for row in rows]

    names = [name for name in (rows[0] if rows else {}) if name.startswith("boundary_")]
    return {
        "steps": len(rows),
        "time": column("time"),
        "residual": column("fit_residual"),
        "rank": column("rank"),
        "condition": column("condition"),
        "boundary": {name.removeprefix("boundary_"): column(name) for name in names},
    }
