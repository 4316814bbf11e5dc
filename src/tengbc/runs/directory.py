"""A run directory: who may work in it, what is in it, how far the run got."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengbc.errors import CheckpointError, OutputError, UsageError, file_errors
from tengbc.outcome import outcome_named
from tengbc.provenance import differences, threads, versions
from tengbc.runs.checkpoints import Checkpoint, Checkpoints, set_aside
from tengbc.runs.config import Config, config, read_config, to_toml
from tengbc.storage.atomic import write_atomically

ELSEWHERE = "choose another --out or remove it first"
_TEMPORARY = re.compile(r"\..+\.\d+")


class RunDirectory:
    """A directory that this process alone works in, until `close`.

    `options.toml` the resolved options; `log.txt`; `history.csv` a line per step; `checkpoints/`
    the last three; `summary.json`, written last: with it a run is finished.
    """

    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = Checkpoints(path / "checkpoints")
        with file_errors(f"The directory {path} cannot be written", "choose another --out"):
            self.checkpoints.directory.mkdir(parents=True, exist_ok=True)
            (path / ".probe").write_bytes(b"")
            (path / ".probe").unlink()
        self.lock = Lock(path)
        # What a kill has left half written; we hold the lock, so nobody else is writing.
        for folder in (path, self.checkpoints.directory):
            with contextlib.suppress(OSError):
                for name in filter(_TEMPORARY.fullmatch, os.listdir(folder)):
                    (folder / name).unlink()

    @classmethod
    def create(cls, path: Path, chosen: Config) -> RunDirectory:
        """A directory for a new run; one that holds a run is left as it is."""
        if (path / "options.toml").exists() or (path / "summary.json").exists():
            raise OutputError(explain(path))
        directory = cls(path)
        write_text(path / "options.toml", to_toml(chosen))
        return directory

    @classmethod
    def open(cls, path: Path) -> tuple[RunDirectory, Config]:
        """The directory of an earlier run, and what that run was asked for."""
        chosen = read_run(path)
        return cls(path), chosen

    @classmethod
    def take(cls, path: Path, chosen: Config) -> RunDirectory:
        """The directory of this run, new or begun before, looked at under the lock.

        `outcome_of` and `newest_checkpoint` tell how far the run got.
        """
        directory = cls(path)
        try:
            if not (path / "options.toml").is_file():
                write_text(path / "options.toml", to_toml(chosen))
            elif read_options(path).hash != chosen.hash:
                raise OutputError(f"{path} holds a run with other options; {ELSEWHERE}.")
        except BaseException:
            directory.close()
            raise
        return directory

    def newest_checkpoint(self, chosen: Config, warn: Callable[[str], None]) -> Checkpoint | None:
        """Where to go on from; None if the run has not come to its first checkpoint."""
        checkpoint, wrong = self.checkpoints.newest()
        for sentence in wrong.values():
            self.log(sentence)
        if checkpoint is None and wrong:
            raise CheckpointError(
                f"No checkpoint in {self.path} is whole and of tengbc's making ({len(wrong)} "
                f"looked at), so the run cannot go on; remove the directory and start again."
            )
        if checkpoint is None:
            return None
        for sentence in wrong.values():
            warn(sentence)
        if checkpoint.about.get("options") != chosen.hash:
            raise CheckpointError(
                f"The checkpoints in {self.path} belong to other options or to another text of "
                f"the problem's file; put these back as they were, or start a new run."
            )
        for path in wrong:
            set_aside(path)
        changed = [
            *differences(checkpoint.about.get("versions", {}), versions()),
            *differences(checkpoint.about.get("threads", {}), threads()),
        ]
        if changed:
            warn(
                f"since the last session {', '.join(changed)}: the result may differ from that of "
                f"an undisturbed run in its last digits."
            )
        return checkpoint

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


class Lock:
    """An exclusive lock on the file `lock` of a directory, which ends with its process."""

    def __init__(self, directory: Path):
        self.path = directory / "lock"
        with file_errors(f"{directory} cannot be locked", "choose another --out"):
            self._handle: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(self._handle, 20, 0).decode("ascii", "replace").strip() or "unknown"
            self.release()
            raise OutputError(
                f"{directory} is in use by another process (number {owner}); wait for it to end, "
                f"or choose another --out.",
                in_use=True,
            ) from None
        os.truncate(self._handle, 0)
        os.pwrite(self._handle, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let others in. The file stays: removing it would let two processes lock two files."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def make_directory(path: Path) -> None:
    """Make a directory for new results, or say in a sentence why it cannot be."""
    with file_errors(f"The directory {path} cannot be made", "choose another --out"):
        path.mkdir(parents=True, exist_ok=True)
    if (path / "summary.json").exists():
        raise OutputError(f"{path} already holds a finished run; {ELSEWHERE}.")


def write_text(path: Path, text: str) -> Path:
    """A text file, written whole or not at all."""
    write_atomically(path, text.encode("utf-8"))
    return path


def write_summary(directory: Path, content: dict[str, Any]) -> Path:
    """summary.json, readable by people and strict JSON parsers alike."""
    text = json.dumps(content, indent=1, allow_nan=False)
    return write_text(directory / "summary.json", f"{text}\n")


def read_options(path: Path) -> Config:
    """The configuration that a run directory holds."""
    return config(read_config(path / "options.toml"))


def read_run(path: Path) -> Config:
    """The same, where there has to be a run."""
    if not (path / "options.toml").is_file():
        raise UsageError(f"{path} holds no run, for it has no options.toml; check the path.")
    return read_options(path)


def read_summary(path: Path) -> dict[str, Any] | None:
    """summary.json, or None where there is none that can be read."""
    try:
        content = json.loads((path / "summary.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def outcome_of(path: Path) -> str | None:
    """The outcome of a finished run, None where there is still something to do."""
    outcome = (read_summary(path) or {}).get("outcome")
    known = outcome_named(outcome)
    return outcome if isinstance(outcome, str) and not (known and known.resumable) else None


def explain(path: Path) -> str:
    """What the directory holds, and what one can do about it."""
    outcome = outcome_of(path)
    if outcome is not None:
        return f"{path} already holds a finished run ({outcome}); {ELSEWHERE}."
    return (
        f"{path} already holds a run that has not come to its end; go on with `tengbc resume "
        f"{path}`, choose another --out, or remove it first."
    )
