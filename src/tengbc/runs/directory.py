"""A run directory: who may work in it, what is in it, how far the run got."""

from __future__ import annotations

import contextlib
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengbc.errors import OutputError, UsageError
from tengbc.outcome import outcome_named
from tengbc.runs.checkpoints import Checkpoints
from tengbc.runs.config import Config, config, read_config, to_toml
from tengbc.runs.lock import Lock
from tengbc.storage.atomic import write_atomically

_TEMPORARY = re.compile(r"\..+\.\d+")


class RunDirectory:
    """A directory that this process alone works in, until `close`.

    `options.toml` the resolved options; `log.txt`; `history.csv` a line per step; `checkpoints/`
    the last three; `summary.json`, written last: with it a run is finished.
    """

    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = Checkpoints(path / "checkpoints")
        try:
            self.checkpoints.directory.mkdir(parents=True, exist_ok=True)
            (path / ".probe").write_bytes(b"")
            (path / ".probe").unlink()
        except OSError as error:
            raise OutputError(
                f"The directory {path} cannot be written ({error.strerror}); choose another --out."
            ) from None
        self.lock = Lock(path)
        self._tidy()

    @classmethod
    def create(cls, path: Path, chosen: Config) -> RunDirectory:
        """A directory for a new run; one that holds a run is left as it is."""
        if (path / "options.toml").exists() or (path / "summary.json").exists():
            raise OutputError(explain(path))
        directory = cls(path)
        write_atomically(path / "options.toml", to_toml(chosen).encode())
        return directory

    @classmethod
    def open(cls, path: Path) -> tuple[RunDirectory, Config]:
        """The directory of an earlier run, and what that run was asked for."""
        if not (path / "options.toml").is_file():
            raise UsageError(f"{path} holds no run, for it has no options.toml; check the path.")
        return cls(path), read_options(path)

    def log(self, text: str) -> None:
        """A line with the time; a log that cannot be written never stops a run."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with contextlib.suppress(OSError), (self.path / "log.txt").open("a", encoding="utf-8") as f:
            f.write(f"{now} {text}\n")

    def withdraw(self) -> None:
        """Forget a run that was refused before it began: another may take its place."""
        with contextlib.suppress(OSError):
            (self.path / "options.toml").unlink()

    def close(self) -> None:
        """Let others work in it."""
        self.lock.release()

    def _tidy(self) -> None:
        """Remove what a kill has left half written: we hold the lock, so nobody else writes."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.path):
                if _TEMPORARY.fullmatch(name):
                    (self.path / name).unlink()
        self.checkpoints.tidy()


def read_options(path: Path) -> Config:
    """The configuration that a run directory holds."""
    return config(read_config(path / "options.toml"))


def read_summary(path: Path) -> dict[str, Any] | None:
    """summary.json, or None where there is none that can be read."""
    try:
        content = json.loads((path / "summary.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def finished(path: Path) -> str | None:
    """The outcome of a finished run, None where there is still something to do."""
    outcome = (read_summary(path) or {}).get("outcome")
    known = outcome_named(outcome)
    return outcome if isinstance(outcome, str) and not (known and known.resumable) else None


def explain(path: Path) -> str:
    """What the directory holds, and what one can do about it."""
    outcome = finished(path)
    if outcome is not None:
        return (
            f"{path} already holds a finished run ({outcome}); choose another --out or remove it "
            f"first."
        )
    return (
        f"{path} already holds a run that has not come to its end; go on with `tengbc resume "
        f"{path}`, choose another --out, or remove it first."
    )
