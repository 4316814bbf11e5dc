"""Child processes of `tengbc`, and what they compile kept for the next one."""

import os
import tempfile
from pathlib import Path

CACHE = Path(tempfile.gettempdir()) / f"tengbc-compiled-{os.getuid()}"


def environment(**changes: str) -> dict[str, str]:
    """One thread, and a cache of compiled programs shared by all children."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "JAX_COMPILATION_CACHE_DIR": str(CACHE),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
        **changes,
    }


def options(kind: dict) -> list[str]:
    """A tiny run as a command line."""
    line = []
    for name, value in kind.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        line += [f"--{name.replace('_', '-')}", text]
    return line
