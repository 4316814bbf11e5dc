"""Where a result comes from: command, commit, versions, threads, machine, seconds."""

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGES = ("tengbc", "jax", "jaxlib", "numpy", "scipy", "equinox")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")


def provenance(command: str, seconds: float) -> dict[str, Any]:
    """All that is needed to judge a figure or to make it again."""
    return {
        "command": command,
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
        "seconds": round(seconds, 1),
    }


def versions() -> dict[str, str]:
    """Python and the packages that decide a result's bits."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def threads() -> dict[str, str]:
    """The cores this process may use and the settings that say how many threads do."""
    cores = {"cores": str(len(os.sched_getaffinity(0)))} if hasattr(os, "sched_getaffinity") else {}
    return cores | {name: os.environ.get(name, "") for name in THREADS}


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What has changed, such as "jax 0.10.1 → 0.10.2"."""
    return [
        f"{name} {then.get(name) or 'unset'} → {now.get(name) or 'unset'}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]


def machine() -> dict[str, Any]:
    """The kind of machine, its cores and how busy it is; no names."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "not set"),
    }


def commit(package: Path = Path(__file__).parent) -> str:
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
