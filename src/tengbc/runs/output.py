"""summary.json: written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tengbc.storage.atomic import write_atomically


def write_summary(directory: Path, content: dict[str, Any]) -> Path:
    """summary.json, readable by people and strict JSON parsers alike."""
    path = directory / "summary.json"
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode("utf-8"))
    return path
