"""The report that every run leaves in its directory."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

from tengbc.report.write import write_report
from tengbc.solution import Solution


def leave_report(directory: Path, solution: Solution, content: dict[str, Any]) -> list[Path]:
    """Write report.html and its data; what goes wrong is said, for the run itself is done."""
    command = shlex.join(["tengbc", *sys.argv[1:]])
    try:
        path = write_report(
            solution, directory / "report.html", command=command, content=content, keep_data=True
        )
    except Exception as error:  # a picture must never cost anyone their results
        print(f"tengbc: the report could not be made ({error}).", file=sys.stderr)
        return []
    return [path]
