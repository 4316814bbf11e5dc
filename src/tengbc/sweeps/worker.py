"""A process that does runs of a study, one after the other: its imports are made once.

`python -m tengbc.sweeps.worker` reads a line of JSON for each thing to do and answers in lines of
JSON. What a problem's file prints goes to `output.txt` in the run's directory. If whoever started
it is gone, it ends the run in hand as a signal would, with a checkpoint, and then itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengbc.errors import OutputError, TengbcError, UsageError
from tengbc.outcome import result_of
from tengbc.sweeps.quantities import check_against, measured, time_keys
from tengbc.sweeps.rows import (
    FAILED,
    REFUSED,
    UNFINISHED,
    ended,
    read_row,
    solved_somehow,
    whole,
    write_row,
)
from tengbc.sweeps.study import MARK, Study, StudyRun, stored_study
from tengbc.threads import one_thread

if TYPE_CHECKING:
    from tengbc.types import Progress

TELL_EVERY = 0.3
"""Seconds between two messages about one run."""
Answer = dict[str, Any]


def do_run(study: Study, run: StudyRun, progress: Progress) -> Answer:
    """Do what is missing of a run: all of it, the rest of it, its quantities, or nothing.

    The answer has its `outcome`, or `in_use` if another process works on it.
    """
    row = read_row(run.path)
    if row is not None and whole(row, study.quantities, study.times):
        return _told(row)
    try:
        return _told(_done(study, run, progress))
    except OutputError as error:
        if error.in_use:
            return {"in_use": True}
        result = result_of(error)  # the disk is full or gone: nothing can be written down
        assert result is not None
        return {"outcome": result.outcome.value, "message": result.message}
    except Exception as error:
        refused = isinstance(error, UsageError)
        if not isinstance(error, TengbcError):
            traceback.print_exc()
        said = str(error) if isinstance(error, TengbcError) else f"{type(error).__name__}: {error}"
        content = {"outcome": REFUSED if refused else FAILED, "message": said}
        return _told(write_row(run.path, content, {}))


def _told(row: dict[str, Any]) -> Answer:
    return {"outcome": row["outcome"], "message": row["message"]}


def _done(study: Study, run: StudyRun, progress: Progress) -> dict[str, Any]:
    from tengbc.runs.directory import RunDirectory, read_summary
    from tengbc.runs.session import carry_out
    from tengbc.solution.file import load

    directory = RunDirectory.take(run.path, run.config)
    content, solution = read_summary(run.path), None
    if content is not None and ended(content.get("outcome")):
        directory.close()  # a kill came between the run's last file and its row
        if (file := run.path / "solution.safetensors").is_file():
            solution = load(file)
    else:
        try:
            before = directory.newest_checkpoint(run.config, directory.log)
        except BaseException:
            directory.close()
            raise
        sys.argv = ["tengbc", "run", str(run.path / "options.toml")]  # what its report tells to do
        say = lambda text: print(text, file=sys.stderr)
        try:
            done = carry_out(run.config, directory, before, progress, 0.0, say, before is None)
        except TengbcError:
            content = read_summary(run.path)  # runs that fail on their way leave one
            if content is None or not ended(content.get("outcome")):
                raise
        else:
            content, solution = done.content, done.solution
            if content is None:
                return {"outcome": UNFINISHED, "message": str(done.solution.result)}
    if solution is None or not solved_somehow(content["outcome"]):
        return write_row(run.path, content, {})
    found, complaints = {}, [content["message"]]
    for name in study.quantities:
        try:
            found[name] = measured(solution, name, study.times)
        except TengbcError as error:  # no reason to lose the run's other figures
            found[name] = dict.fromkeys(time_keys(study.times))
            complaints.append(f"{name}: {error}")
    return write_row(run.path, content | {"message": " ".join(filter(None, complaints))}, found)


def check(
    asked: Sequence[dict[str, Any]], parameters: Sequence[str], quantities: Sequence[str]
) -> None:
    """Refuse a study none of whose first runs can be, and names that could mean two things."""
    from tengbc.options import Options
    from tengbc.runs.address import address, arguments, load
    from tengbc.runs.config import config

    where = address(config(asked[0]).problem)
    for name in set(parameters) & set(Options.model_fields) & set(arguments(where)):
        raise UsageError(
            f"{name} is an option of a run and an argument of {where.name} as well, so it is not "
            f"clear which of them is varied; give the argument another name."
        )
    first = None
    for given in asked:
        try:
            problem = load(address(config(given).problem))
        except TengbcError as error:  # others may do: a failed run stops nobody
            first = first or error
            continue
        for name in quantities:
            check_against(problem, name)
        return
    if first is not None:
        raise first


def work_through(out: str, numbers: list[int]) -> None:
    """Do these runs of the study in a directory, one after the other: a task of a cluster."""
    os.environ.update(one_thread(os.environ) | {MARK: "1"})  # before the heavy imports
    study, _ = stored_study(Path(out))
    for number in numbers:
        run = study.runs[number - 1]
        with _output(run):
            answer = do_run(study, run, lambda *_: None)
        if answer.get("outcome") == UNFINISHED:  # a signal has come: the task is to end
            return


def main() -> None:
    """Read what to do from standard input, and answer on what was standard output."""
    answers = os.dup(1)
    _redirect(os.devnull)
    os.environ[MARK] = "1"
    import tengbc.runs.session  # noqa: F401  # the heavy ones, before anybody waits for a run

    def tell(**message: Any) -> None:
        os.write(answers, (json.dumps(message) + "\n").encode())

    studies: dict[str, Study] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "check" in request:
            tell(refused=_refusal(request))
            continue
        out = request["out"]
        study = studies.setdefault(out, stored_study(Path(out))[0])
        run = study.runs[request["run"] - 1]
        with _output(run):
            tell(**do_run(study, run, _Teller(tell)))


def _refusal(request: dict[str, Any]) -> str | None:
    try:
        check(request["check"], request["parameters"], request["quantities"])
    except TengbcError as error:
        return str(error)
    return None


class _Teller:
    """Progress of a run as messages; where nobody reads them any more, the run is to end."""

    def __init__(self, tell: Callable[..., None]):
        self._tell, self._last, self._left = tell, 0.0, False

    def __call__(self, phase: str, fraction: float, known: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self._last < TELL_EVERY or self._left:
            return
        self._last = now
        try:
            self._tell(phase=phase, fraction=fraction)
        except BrokenPipeError:
            self._left = True
            signal.raise_signal(signal.SIGTERM)


@contextlib.contextmanager
def _output(run: StudyRun) -> Iterator[None]:
    """What is printed meanwhile goes to output.txt beside the run, which is there only if it is."""
    path, before = run.path / "output.txt", [os.dup(1), os.dup(2)]
    with contextlib.suppress(OSError):  # the run itself will say what is wrong
        run.path.mkdir(parents=True, exist_ok=True)
        _redirect(path)
    try:
        yield
    finally:
        _flush()
        for number, old in enumerate(before, start=1):
            os.dup2(old, number)
            os.close(old)
        with contextlib.suppress(OSError):
            if not path.stat().st_size:
                path.unlink()


def _redirect(path: str | Path) -> None:
    """Send standard output and standard error to a file, those of compiled code too."""
    _flush()
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


if __name__ == "__main__":
    main()
