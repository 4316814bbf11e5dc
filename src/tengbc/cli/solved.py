"""A solved run on the command line: where its solution is, and the times asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tengbc.errors import UsageError

if TYPE_CHECKING:
    from tengbc.solver.solution import Solution

NAME = "solution.safetensors"


def solution_file(place: Path) -> Path:
    """The file of a run's directory, or the file itself; checked before anything is imported."""
    file = place / NAME if place.is_dir() else place
    if not file.is_file():
        raise UsageError(
            f"There is no {file}; name a directory that `tengbc run … --out DIR` has finished."
        )
    return file


def load_solution(file: Path) -> Solution:
    """The solution of that file."""
    from tengbc.solver.solution_file import load

    return load(file)


def numbers(text: str, name: str) -> list[float]:
    """Comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{name} is {text!r}, but it should be numbers with commas between them; "
            f"write it like 0,0.5,1."
        ) from None
