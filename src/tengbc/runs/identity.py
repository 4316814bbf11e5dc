"""What decides the bits of a run: its options, the packages, the threads."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from typing import Any

PACKAGES = ("tengbc", "jax", "jaxlib", "numpy", "scipy", "equinox")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")


def options_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of the options in a canonical form."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


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
