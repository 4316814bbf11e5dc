"""Files that are written whole or not at all."""

import contextlib
import os
from pathlib import Path

from tengbc.errors import OutputError, file_errors


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file: whatever happens, a reader finds the old content or the new one.

    The data reaches the disk before the name does, and the name before this returns.
    """
    if not path.name:
        raise OutputError(f"{path} is a directory; give the name of a file in it.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with file_errors(f"{path} cannot be written", "make room or choose another place"):
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
            handle = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
