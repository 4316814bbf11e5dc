"""The last words of a run: a table, a curve of the error, where the files are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tengbc.cli.sparkline import sparkline
from tengbc.solution import Solution
from tengbc.solver.measure import Errors


def print_json(content: dict[str, Any]) -> None:
    """The summary on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(content, indent=1, allow_nan=False) + "\n")


def print_summary(
    solution: Solution, errors: Errors | None, content: dict[str, Any], files: list[Path]
) -> None:
    """The summary as a table; colours only on a terminal, and none where NO_COLOR is set."""
    table = Table(
        title=f"{content['problem'] or 'your problem'}: {content['outcome']}",
        title_style="bold green" if solution.result else "bold red",
        show_header=False,
    )
    for row in _rows(solution, errors, content, files):
        table.add_row(*row)
    Console(highlight=False).print(table)


def _rows(
    solution: Solution, errors: Errors | None, content: dict[str, Any], files: list[Path]
) -> Iterator[tuple[str, str]]:
    asked = content.get("rtol")
    if asked is not None:
        yield "relative error asked for", f"{asked:.1e}"
    if errors is not None:
        yield "relative L² error, worst", f"{errors.worst:.2e}"
        yield "  at the start, at the end", f"{errors.by_time[0][1]:.2e}, {errors.final:.2e}"
    if content["error_estimate_max"] is not None:
        yield "estimated error, worst", f"{content['error_estimate_max']:.2e}"
    curve = _curve(solution, errors)
    if curve:
        yield f"{'error' if errors else 'estimate'} over time, log scale", curve
    yield "time", _way(solution, content)
    yield "preset, scheme", f"{content['preset']}, {content['scheme']}"
    yield (
        "size",
        f"{content['parameters']:,} parameters, {content['interior_points']:,} interior and "
        f"{content['boundary_points']:,} boundary points",
    )
    yield "seconds", ", ".join(f"{name} {value:.2f}" for name, value in content["seconds"].items())
    for path in files:
        yield ("report" if path.suffix == ".html" else "written to"), str(path)


def _way(solution: Solution, content: dict[str, Any]) -> str:
    """From where to where; a run that ended on its way says how far it came."""
    whole = f"0 to {content['t_end']:g} in {content['steps']} steps"
    reached = float(solution.times[-1])
    return whole if reached >= content["t_end"] else f"0 to {reached:.6g}, of {whole}"


def _curve(solution: Solution, errors: Errors | None) -> str:
    if errors is not None:
        return sparkline([error for _, error in errors.by_time])
    return sparkline(np.nan_to_num(solution.error_estimate).tolist())
