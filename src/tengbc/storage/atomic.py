"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from tengbc.errors import OutputError


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file: whatever happens, a reader finds the old content or the new one.

    The data reaches the disk before the name does, and the name before this returns.
    """
    if not path.name:
        raise OutputError(f"{path} is a directory; give the name of a file in it.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _flush_directory(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise OutputError(
            f"{path} cannot be written ({error.strerror}); make room or choose another place.",
            out_of_space=error.errno in (errno.ENOSPC, errno.EDQUOT),
        ) from None


def _flush_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
