"""tengbc check: is it well stated, is it whole, and what will it cost?"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import check_problem, load_problem
from tengbc.finding import Finding
from tengbc.runs.config import config, read_config

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
    findings = _findings(target)
    for finding in findings:
        print(f"{MARKS[finding.level]} {finding.text}")
    wrong = [finding.error for finding in findings if finding.level == "error"]
    sys.exit(0 if not wrong else 2 if wrong[0] is None else wrong[0].exit_code)


def _findings(target: str) -> list[Finding]:
    if Path(target).is_dir():
        from tengbc.runs.verify import verify

        return verify(Path(target))
    chosen = config(read_config(Path(target)) if target.endswith(".toml") else {"problem": target})
    check_problem(chosen.problem)
    from tengbc.solver.examine import examine

    return examine(load_problem(chosen.problem), chosen.options)
