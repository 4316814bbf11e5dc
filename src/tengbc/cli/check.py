"""tengbc check: is it well stated, is it whole, and what will it cost?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.problem_argument import check_problem, load_problem
from tengbc.runs.config import Config, config, read_config

MARKS = {"fine": "✓", "note": "·", "warning": "!", "error": "✗"}


def check(
    target: Annotated[
        str,
        typer.Argument(
            help="A name from `tengbc list`, FILE.py:NAME (which runs that file), a TOML file with "
            "options, or the directory of a run."
        ),
    ],
) -> None:
    """Look before computing: the statement of a problem and its cost, or the files of a run."""
    if Path(target).is_dir():
        from tengbc.runs.verify import verify

        _print(verify(Path(target)))
        return
    chosen = config(read_config(Path(target)) if target.endswith(".toml") else {"problem": target})
    check_problem(chosen.problem)
    _print(_examined(chosen))


def _examined(chosen: Config) -> list[tuple[str, str, int]]:
    from tengbc.solver.examine import examine

    found = examine(load_problem(chosen.problem), chosen.options)
    return [(f.level, f.text, 2 if f.error is None else f.error.exit_code) for f in found]


def _print(found: list[tuple[str, str, int]]) -> None:
    """A line per finding; the exit code is that of the first error."""
    for level, text, _ in found:
        print(f"{MARKS[level]} {text}")
    codes = [code for level, _, code in found if level == "error"]
    sys.exit(codes[0] if codes else 0)
