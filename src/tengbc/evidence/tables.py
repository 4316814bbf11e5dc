"""Rows of a table as Markdown and as CSV."""

import csv
import io
from collections.abc import Sequence
from typing import Any


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first row being its head."""
    head, *body = rows
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *body))


def text_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Rows with commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
