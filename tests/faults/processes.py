"""Child processes of `tengbc`, and what they compile kept for the next one."""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

from tengbc.cli import main

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


_IMPORTED = multiprocessing.get_context("forkserver")
_IMPORTED.set_forkserver_preload(["tengbc.cli.app", "tengbc.cli.terminal", "tengbc.runs.session"])


def forked(*line: str) -> BaseProcess:
    """A process of `tengbc` that comes from one which has made its imports and nothing else."""
    process = _IMPORTED.Process(target=_command, args=(line,))
    with mock.patch.dict(os.environ, environment()):  # that of the first is that of all
        process.start()
    return process


def _command(line: Sequence[str]) -> None:
    sys.argv = ["tengbc", *line, "--quiet"]
    main()


def options(kind: dict) -> list[str]:
    """A tiny run as a command line."""
    line = []
    for name, value in kind.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        line += [f"--{name.replace('_', '-')}", text]
    return line
