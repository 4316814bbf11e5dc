"""Where a result comes from: command, commit, versions, machine, seconds."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from tengbc.runs.identity import versions


def provenance(command: str, seconds: float) -> dict[str, Any]:
    """All that is needed to judge a figure or to make it again."""
    return {
        "command": command,
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
        "seconds": round(seconds, 1),
    }


def machine() -> dict[str, Any]:
    """The kind of machine, its cores and how busy it is; no names."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "not set"),
    }


def commit() -> str:
    """The commit of the source tree, or a word where there is none."""
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()
