"""Files of a run: written whole or not at all."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tengbc.errors import OutputError
from tengbc.solver import Record


def prepare(directory: Path) -> None:
    """Make the directory, or say in a sentence why it cannot be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise OutputError(
            f"The directory {directory} cannot be written ({error.strerror}); choose another --out."
        ) from None
    if (directory / "summary.json").exists():
        raise OutputError(
            f"{directory} already holds a finished run; choose another --out or remove it first."
        )


def write_whole(path: Path, text: str) -> None:
    """Replace a file atomically: readers see the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise OutputError(
            f"{path} cannot be written ({error.strerror}); make room or choose another --out."
        ) from None


def write_summary(directory: Path, content: dict[str, Any]) -> Path:
    """summary.json, readable by people and strict JSON parsers alike."""
    path = directory / "summary.json"
    write_whole(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
    return path


def write_history(directory: Path, history: Sequence[Record]) -> Path:
    """history.csv: one line per step."""
    segments = sorted({name for record in history for name in record.boundary})
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(
        ["step", "time", "fit_residual", "rank", "condition", "error_estimate"]
        + [f"boundary_{segment}" for segment in segments]
    )
    for record in history:
        estimate = "" if record.estimate is None else f"{record.estimate:.6e}"
        writer.writerow(
            [record.step, f"{record.time:.12g}", f"{record.residual:.6e}", record.rank]
            + [f"{record.condition:.3e}", estimate]
            + [f"{record.boundary[segment]:.6e}" for segment in segments]
        )
    path = directory / "history.csv"
    write_whole(path, text.getvalue())
    return path
