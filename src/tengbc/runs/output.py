"""Files of results: written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tengbc.errors import OutputError
from tengbc.storage.atomic import write_atomically


def prepare(directory: Path) -> None:
    """Make a directory for new results, or say in a sentence why it cannot be."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The directory {directory} cannot be made ({error.strerror}); choose another --out."
        ) from None
    if (directory / "summary.json").exists():
        raise OutputError(
            f"{directory} already holds a finished run; choose another --out or remove it first."
        )


def write_text(path: Path, text: str) -> Path:
    """A text file, written whole."""
    write_atomically(path, text.encode("utf-8"))
    return path


def write_summary(directory: Path, content: dict[str, Any]) -> Path:
    """summary.json, readable by people and strict JSON parsers alike."""
    path = directory / "summary.json"
    return write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
