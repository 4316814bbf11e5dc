"""Everything in a run directory: is it whole, and do its parts belong together?"""

from collections.abc import Iterator
from pathlib import Path

from tengbc.errors import CheckpointError, OutputError, TengbcError, UsageError
from tengbc.finding import Finding
from tengbc.runs.checkpoints import Checkpoints, read
from tengbc.runs.directory import outcome_of, read_options, read_summary


def verify(path: Path) -> list[Finding]:
    """Options, checkpoints, history and summary; nothing is changed."""
    if not (path / "options.toml").is_file():
        raise UsageError(f"{path} holds no run, for it has no options.toml; check the path.")
    wanted = None
    try:
        wanted = read_options(path).hash
        options = Finding("fine", "options.toml is valid")
    except TengbcError as error:
        options = _wrong(error)
    checkpoints = list(_checkpoints(Checkpoints(path / "checkpoints").paths(), wanted))
    return [options, *checkpoints, _history(path / "history.csv"), _outcome(path, checkpoints)]


def _wrong(error: TengbcError) -> Finding:
    return Finding("error", str(error), error)


def _checkpoints(files: list[Path], wanted: str | None) -> Iterator[Finding]:
    for file in files:
        try:
            checkpoint = read(file)
            if wanted is not None and checkpoint.about.get("options") != wanted:
                raise CheckpointError(f"{file} belongs to other options; put these back.")
            yield Finding("fine", f"{file.name} is whole: {', '.join(checkpoint.stages)}")
        except (CheckpointError, OutputError) as error:
            yield _wrong(error)


def _history(path: Path) -> Finding:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Finding("note", "there is no history yet")
    except OSError as error:
        return _wrong(OutputError(f"{path} cannot be read ({error.strerror})."))
    width = lines[0].count(b",")
    torn = [k for k, line in enumerate(lines[:-1]) if line.count(b",") != width]
    if torn:
        return _wrong(OutputError(f"line {torn[0] + 1} of {path} is not like the others."))
    return Finding("fine", f"history.csv has {max(len(lines) - 2, 0)} steps")


def _outcome(path: Path, checkpoints: list[Finding]) -> Finding:
    outcome = outcome_of(path)
    usable = any(checkpoint.error is None for checkpoint in checkpoints)
    if outcome is not None:
        return Finding("fine", f"the run is finished: {outcome}")
    if (path / "summary.json").exists() and read_summary(path) is None:
        return _wrong(OutputError(f"{path / 'summary.json'} is not valid JSON; remove it."))
    if checkpoints and not usable:
        return Finding("note", "not finished, and without a checkpoint to go on from")
    start = "its newest good checkpoint" if usable else "the beginning"
    return Finding("note", f"not finished; `tengbc resume {path}` goes on from {start}")
