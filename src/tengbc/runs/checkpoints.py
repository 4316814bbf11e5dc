"""Checkpoints: numbered files, the last three kept, the newest that verifies is used."""

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengbc.errors import CheckpointError, TengbcError
from tengbc.journal import Snapshot
from tengbc.storage.atomic import write_atomically
from tengbc.storage.checksummed import pack, unpack

FORM = "tengbc checkpoint 1"
"""Name and version of what a checkpoint holds."""
KEPT = 3
_NAME = re.compile(r"(\d{6,})\.safetensors")


@dataclass(frozen=True)
class Checkpoint:
    """The stages of a run at one moment, and about the run what must be as it was."""

    about: Mapping[str, Any]
    stages: Mapping[str, Snapshot]

    def to_bytes(self) -> bytes:
        """One safetensors file, with a digest over all of it."""
        tensors, stages = {}, []
        for number, (name, snapshot) in enumerate(self.stages.items()):
            tensors |= {f"{number}/{key}": array for key, array in snapshot.arrays.items()}
            stages.append([name, dict(snapshot.facts), snapshot.finished])
        return pack(FORM, {"about": dict(self.about), "stages": stages}, tensors)


def read(path: Path) -> Checkpoint:
    """A checkpoint that is whole and ours, or a CheckpointError."""
    content, tensors = unpack(path, FORM)
    stages: dict[str, Snapshot] = {}
    try:
        for number, (name, facts, finished) in enumerate(content["stages"]):
            start = f"{number}/"
            arrays = {k.removeprefix(start): a for k, a in tensors.items() if k.startswith(start)}
            stages[name] = Snapshot(arrays, dict(facts), bool(finished))
        return Checkpoint(dict(content["about"]), stages)
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{path} is sealed as it should be, but holds something else; remove it."
        ) from None


class Checkpoints:
    """The numbered checkpoints of a directory."""

    def __init__(self, directory: Path):
        self.directory = directory

    def paths(self) -> list[Path]:
        """All checkpoints, the newest first."""
        try:
            names = os.listdir(self.directory)
        except FileNotFoundError:
            return []
        found = [(int(match[1]), name) for name in names if (match := _NAME.fullmatch(name))]
        return [self.directory / name for _, name in sorted(found, reverse=True)]

    def write(self, checkpoint: Checkpoint) -> Path:
        """A new file; older ones go only once it is safe on the disk."""
        paths = self.paths()
        number = int(paths[0].stem) + 1 if paths else 1
        path = self.directory / f"{number:06d}.safetensors"
        write_atomically(path, checkpoint.to_bytes())
        for old in paths[KEPT - 1 :]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path

    def newest(self) -> tuple[Checkpoint | None, dict[Path, str]]:
        """The newest checkpoint that verifies, and a sentence about each newer one that did not."""
        wrong = {}
        for path in self.paths():
            try:
                return read(path), wrong
            except TengbcError as error:
                wrong[path] = str(error)
        return None, wrong


def set_aside(path: Path) -> None:
    """Rename a damaged checkpoint, so that it takes no good one's place among the last three."""
    with contextlib.suppress(OSError):
        path.rename(path.with_suffix(".damaged"))
