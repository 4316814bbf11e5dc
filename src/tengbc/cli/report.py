"""tengbc report: make a run's page again, or compare several runs on one."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    directories: Annotated[
        list[Path], typer.Argument(help="Directories that `tengbc run --out` wrote.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write: DIR/report.html, or comparison.html for several."),
    ] = None,
) -> None:
    """Write the report of one run again, or a comparison of several runs, side by side."""
    from tengbc.report.comparison import write_comparison
    from tengbc.report.from_directory import remake

    if len(directories) == 1:
        path = remake(directories[0], out)
    else:
        path = write_comparison(directories, out or Path("comparison.html"))
    print(path)
