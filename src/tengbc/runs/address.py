"""Where a problem comes from: a benchmark's name, or FILE.py:NAME, and numbers to make it with.

`plate.py:plate(kappa=0.1, h=5)` is the function `plate` of that file, called with these numbers.
The text is taken apart, not evaluated; that `load` runs the Python file is the point of naming one.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
import runpy
import sys
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengbc.errors import TengbcError, UsageError
from tengbc.options import nearest
from tengbc.problems import CATALOG, factory

if TYPE_CHECKING:
    from tengbc.problem import Problem

Number = int | float
_CALL = re.compile(r"(?P<start>[^()]*)\((?P<numbers>[^()]*)\)\s*")
_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Address:
    """A problem by its `name`, in the file `path` or, where that is None, among the benchmarks.

    `numbers` are the arguments that make it.
    """

    name: str
    path: Path | None = None
    numbers: Mapping[str, Number] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.call if self.path is None else f"{self.path}:{self.call}"

    @property
    def call(self) -> str:
        """The name with its numbers, without the file."""
        listed = ", ".join(f"{name}={value!r}" for name, value in self.numbers.items())
        return f"{self.name}({listed})" if listed else self.name


def address(text: str) -> Address:
    """The address that a text stands for; whether there is such a problem, `check` finds out."""
    start, numbers = text, {}
    # A path may have brackets too: only what follows the last colon can be a call.
    if text.rstrip().endswith(")") and (call := _CALL.fullmatch(text.rpartition(":")[2])):
        start = text[: -len(call[0])] + call["start"].strip()
        numbers = _numbers(call["numbers"])
    path, separator, name = start.rpartition(":")
    if separator and path.endswith(".py"):
        return Address(name, Path(path), numbers)
    return Address(start, None, numbers)


def check(where: Address) -> None:
    """Refuse what cannot be a problem, without importing anything heavy."""
    if where.path is not None:
        if not where.path.is_file():
            raise UsageError(f"There is no file {where.path}; check the path.")
        if not where.name.isidentifier():
            raise UsageError(f"{where.name!r} is not a Python name; write FILE.py:NAME.")
    elif where.name.endswith(".py"):
        raise UsageError(f"Name the problem in the file too, such as {where.name}:problem.")
    elif where.name not in CATALOG:
        factory(where.name)  # raises with the names it knows


def load(where: Address) -> Problem:
    """A benchmark, or an object of a user's file, which is run as Python code."""
    from tengbc.problem import Problem

    found = _found(where)
    if where.numbers or (callable(found) and not isinstance(found, Problem)):
        _check_numbers(found, where)
        with _mistakes(where):
            found = found(**where.numbers)
    if not isinstance(found, Problem):
        raise UsageError(
            f"{where.name!r} in {where.path} is a {type(found).__name__}, not a Problem; name a "
            f"Problem or a function that returns one."
        )
    if where.path is not None:
        found.name = found.name or where.path.stem
    return found


def arguments(where: Address) -> tuple[str, ...]:
    """The names of the numbers that the problem's function takes; its file is run to find out."""
    found = _found(where)
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    known = inspect.signature(found).parameters.values() if callable(found) else ()
    return tuple(each.name for each in known if each.kind not in several)


def _found(where: Address) -> Any:
    """What stands at the address, not yet called."""
    check(where)
    if where.path is None:
        return factory(where.name)
    home = str(where.path.resolve().parent)
    if home not in sys.path:
        sys.path.insert(0, home)  # its neighbours, as `python FILE.py` has
    with _mistakes(where):
        found = runpy.run_path(str(where.path)).get(where.name)
    if found is None:
        raise UsageError(f"{where.path} has no {where.name!r}; check the name after the colon.")
    return found


@contextlib.contextmanager
def _mistakes(where: Address) -> Iterator[None]:
    """A mistake in the user's file becomes a sentence, not a traceback of ours."""
    try:
        yield
    except TengbcError:
        raise
    except Exception as error:
        place = _place(error, str(where.path))
        raise UsageError(f"{where.path} fails{place}; correct it there.") from error


def _check_numbers(found: Any, where: Address) -> None:
    """Whether a function takes these numbers and needs no others."""
    place = where.name if where.path is None else f"{where.name!r} in {where.path}"
    if not callable(found):
        raise UsageError(
            f"{place} is a {type(found).__name__}, which takes no numbers; name a function of "
            f"{', '.join(where.numbers)} that returns a Problem."
        )
    known = inspect.signature(found).parameters.values()
    names = [each.name for each in known if each.kind is not each.VAR_POSITIONAL]
    if any(each.kind is each.VAR_KEYWORD for each in known):
        names += where.numbers
    for name in where.numbers:
        if name not in names:
            hint = nearest(name, tuple(names)) if names else "it takes none"
            raise UsageError(f"{place} takes no number {name!r}; {hint}.")
    single = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for each in known:
        needed = each.default is each.empty and each.kind in single
        if needed and each.name not in where.numbers:
            raise UsageError(
                f"{place} needs a number {each.name!r}; write {where.name}({each.name}=…)."
            )


def _numbers(text: str) -> dict[str, Number]:
    """`kappa=0.1, h=5` as numbers by name."""
    found: dict[str, Number] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = (piece.strip() for piece in part.partition("="))
        try:
            read = int(value) if _WHOLE.fullmatch(value) else float(value)
        except ValueError:
            read = math.nan
        if not name.isidentifier() or name in found or not math.isfinite(read):
            raise UsageError(
                f"{part!r} is not a number by its name, or stands there twice; write the "
                f"problem's numbers like (kappa=0.1, h=5)."
            )
        found[name] = read
    return found


def _place(error: Exception, path: str) -> str:
    """Where a user's file went wrong, and why."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    said = " ".join(str(getattr(error, "msg", None) or error).split())
    where = f" in line {lines[-1]}" if lines else ""
    return f"{where} ({type(error).__name__}: {said})"
