"""What a finished run leaves in its directory beside summary.json: one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tengbc.report.run_report import leave_report
from tengbc.solver import Solution


def write_extras(directory: Path, solution: Solution, content: dict[str, Any]) -> list[Path]:
    """Write them; the paths returned are shown to the user. `content` is the summary."""
    solution.save(directory / "solution.safetensors")
    return leave_report(directory, solution, content)
