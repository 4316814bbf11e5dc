"""The problem a command line names: a benchmark, or an object in a user's own Python file."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tengbc.errors import TengbcError, UsageError
from tengbc.problems.catalog import CATALOG

if TYPE_CHECKING:
    from tengbc.problem import Problem


def check_problem(argument: str) -> None:
    """Refuse what cannot be a problem, without importing anything heavy."""
    path, separator, name = argument.rpartition(":")
    if separator and path.endswith(".py"):
        if not Path(path).is_file():
            raise UsageError(f"There is no file {path}; check the path.")
        if not name.isidentifier():
            raise UsageError(f"{name!r} is not a Python name; write FILE.py:NAME.")
    elif argument.endswith(".py"):
        raise UsageError(f"Name the problem in the file too, such as {argument}:problem.")
    elif argument not in CATALOG:
        from tengbc import problems

        problems.get(argument)  # raises with the names it knows


def complete_problem(begun: str) -> list[tuple[str, str]]:
    """What a shell offers for the beginning of a problem's name."""
    return [(name, entry.description) for name, entry in CATALOG.items() if name.startswith(begun)]


def load_problem(argument: str) -> Problem:
    """The problem itself; a user's file is run as Python code, which is what they asked for."""
    from tengbc import problems
    from tengbc.problem import Problem

    if argument in CATALOG:
        return problems.get(argument)
    path, _, name = argument.rpartition(":")
    sys.path.insert(0, str(Path(path).resolve().parent))  # its neighbours, as `python FILE.py` has
    try:
        found = runpy.run_path(path).get(name)
        found = found() if callable(found) and not isinstance(found, Problem) else found
    except TengbcError:
        raise
    except Exception as error:  # a mistake in the user's file, so not a traceback of ours
        raise UsageError(f"{path} fails{_place(error, path)}; correct it there.") from error
    if found is None:
        raise UsageError(f"{path} has no {name!r}; check the name after the colon.")
    if not isinstance(found, Problem):
        raise UsageError(
            f"{name!r} in {path} is a {type(found).__name__}, not a Problem; name a Problem or a "
            f"function that returns one."
        )
    found.name = found.name or Path(path).stem
    return found


def _place(error: Exception, path: str) -> str:
    """Where a user's file went wrong, and why."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == path
    ]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    said = " ".join(str(getattr(error, "msg", None) or error).split())
    where = f" in line {lines[-1]}" if lines else ""
    return f"{where} ({type(error).__name__}: {said})"
