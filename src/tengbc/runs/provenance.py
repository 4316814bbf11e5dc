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


def commit(package: Path = Path(__file__).parents[1]) -> str:
    """The commit of the package's source, `-dirty` if it was changed since, or a word if none.

    Only the package counts: results that are being written change the tree as well.
    """
    try:
        _git(package, "ls-files", "--error-unmatch", "__init__.py")  # not just in someone's tree
        name = _git(package, "rev-parse", "--short=12", "HEAD")
        return f"{name}-dirty" if _git(package, "status", "--porcelain", ".") else name
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _git(place: Path, *words: str) -> str:
    answer = subprocess.run(
        ["git", *words], cwd=place, capture_output=True, text=True, timeout=10, check=True
    )
    return answer.stdout.strip()
