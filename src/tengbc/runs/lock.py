"""One process at a time in a run directory; the lock goes with the process, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from tengbc.errors import OutputError


class Lock:
    """An exclusive lock on the file `lock` of a directory."""

    def __init__(self, directory: Path):
        self.path = directory / "lock"
        try:
            self._handle: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(
                f"{directory} cannot be locked ({error.strerror}); choose another --out."
            ) from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            self.release()
            raise OutputError(
                f"{directory} is in use by another process (number {owner}); wait for it to end, "
                f"or choose another --out."
            ) from None
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others in. The file stays: removing it would let two processes lock two files."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
