"""Everything in a run directory: is it whole, and do its parts belong together?"""

from __future__ import annotations

from pathlib import Path

from tengbc.errors import CheckpointError, OutputError, TengbcError, UsageError
from tengbc.runs.checkpoints import Checkpoints, read
from tengbc.runs.directory import finished, read_options, read_summary

Found = list[tuple[str, str, int]]
"""(level, sentence, exit code) for each thing that was looked at."""


def verify(path: Path) -> Found:
    """Options, checkpoints, history and summary; nothing is changed."""
    if not (path / "options.toml").is_file():
        raise UsageError(f"{path} holds no run, for it has no options.toml; check the path.")
    found: Found = []
    wanted = None
    try:
        wanted = read_options(path).hash
        found.append(("fine", "options.toml is valid", 0))
    except TengbcError as error:
        found.append(("error", str(error), error.exit_code))
    files = Checkpoints(path / "checkpoints").paths()
    usable = _checkpoints(files, wanted, found)
    _history(path / "history.csv", found)
    _outcome(path, len(files), usable, found)
    return found


def _checkpoints(files: list[Path], wanted: str | None, found: Found) -> int:
    usable = 0
    for file in files:
        try:
            checkpoint = read(file)
            if wanted is not None and checkpoint.about.get("options") != wanted:
                raise CheckpointError(f"{file} belongs to other options; put these back.")
            names = ", ".join(checkpoint.stages)
            found.append(("fine", f"{file.name} is whole: {names}", 0))
            usable += 1
        except (CheckpointError, OutputError) as error:
            found.append(("error", str(error), error.exit_code))
    return usable


def _history(path: Path, found: Found) -> None:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        found.append(("note", "there is no history yet", 0))
        return
    except OSError as error:
        found.append(("error", f"{path} cannot be read ({error.strerror}).", 5))
        return
    lines = text.split(b"\n")
    width = lines[0].count(b",")
    torn = [k for k, line in enumerate(lines[:-1]) if line.count(b",") != width]
    if torn:
        found.append(("error", f"line {torn[0] + 1} of {path} is not like the others.", 5))
    else:
        found.append(("fine", f"history.csv has {max(len(lines) - 2, 0)} steps", 0))


def _outcome(path: Path, files: int, usable: int, found: Found) -> None:
    outcome = finished(path)
    if outcome is not None:
        found.append(("fine", f"the run is finished: {outcome}", 0))
    elif (path / "summary.json").exists() and read_summary(path) is None:
        found.append(("error", f"{path / 'summary.json'} is not valid JSON; remove it.", 5))
    elif files and not usable:
        found.append(("note", "not finished, and without a checkpoint to go on from", 0))
    else:
        start = "its newest good checkpoint" if usable else "the beginning"
        found.append(("note", f"not finished; `tengbc resume {path}` goes on from {start}", 0))
