"""The page of a sweep: its parameters against errors, seconds and quantities, and all its runs."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tengbc.report.numbers import duration, number
from tengbc.report.pages import render

SCRIPTS = ("numbers.js", "chart.js", "sweep.js")
LABELS = {
    "error": "largest relative error",
    "error_estimate": "estimate of the error",
    "seconds": "seconds",
}
APART = ("run", "outcome", "message", "report")
"""Entries of a row that are neither a parameter nor a number to draw."""
WIDE = 30.0
"""Numbers whose largest is so many times the smallest are drawn by their logarithms."""


def sweep_page(name: str, parameters: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    """sweep.html as text.

    A row has `run`, `outcome`, `message`, the address of its `report` or None, the parameters, and
    numbers by name.
    """
    names = dict.fromkeys(key for row in rows for key in row)
    outputs = [key for key in names if key not in (*APART, *parameters)]
    outputs = [key for key in outputs if any(row.get(key) is not None for row in rows)]
    payload = {
        "axes": [_axis(key, key, [row[key] for row in rows]) for key in parameters],
        "outputs": [_axis(key, _label(key), [row.get(key) for row in rows]) for key in outputs],
        "rows": [
            {"run": row["run"], "report": row["report"], "good": row["outcome"] == "done"}
            for row in rows
        ],
    }
    return render(
        "sweep.html",
        payload,
        SCRIPTS,
        name=name,
        parameters=list(parameters),
        outputs=[_label(key) for key in outputs],
        rows=[_line(row, parameters, outputs) for row in rows],
        footer="Each run has its own report, in the folder runs beside this file.",
        **_headline(rows),
    )


def _headline(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = Counter(row["outcome"] for row in rows)
    solved = counts.pop("done", 0)
    whole = solved == len(rows)
    kind = "good" if whole else ("doubtful" if solved else "bad")
    headline = f"All {len(rows)} runs solved" if whole else f"{solved} of {len(rows)} runs solved"
    others = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    seconds = [row["seconds"] for row in rows if row.get("seconds") is not None]
    sentences = [f"The others: {others}."] if others else []
    if seconds:
        sentences.append(
            f"Together they took {duration(sum(seconds))} of one core, "
            f"{duration(max(seconds))} the longest."
        )
    return {"kind": kind, "headline": headline, "sentences": sentences}


def _label(key: str) -> str:
    """`integral@0.5` in words."""
    name, at, time = key.rpartition("@")
    when = " at the end" if time == "end" else f" at t = {time}"
    return LABELS.get(key, f"{name}{when}" if at else key)


def _axis(key: str, label: str, values: Sequence[Any]) -> dict[str, Any]:
    """Values of all runs in one name; text, and lists of numbers, are categories."""
    known = [value for value in values if value is not None]
    numbers = [v for v in known if isinstance(v, int | float) and math.isfinite(v)]
    if len(numbers) < len(known):
        return {"key": key, "label": label, "log": False, "values": [_text(v) for v in values]}
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    wide = low > 0 and high / low >= WIDE
    return {"key": key, "label": label, "log": wide or "error" in key, "values": list(values)}


def _line(row: dict[str, Any], parameters: Sequence[str], outputs: Sequence[str]) -> dict[str, Any]:
    return {
        "run": row["run"],
        "report": row["report"],
        "parameters": [_text(row[name]) for name in parameters],
        "outcome": row["outcome"],
        "message": row["message"],
        "outputs": [number(row.get(name), 3) for name in outputs],
    }


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
