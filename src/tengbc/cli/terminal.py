"""What a terminal shows: sentences, and the summary of a run at its end."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from tengbc.solution import Solution
    from tengbc.solution.measure import Errors

BARS = "▁▂▃▄▅▆▇█"


def say(text: str) -> None:
    """A sentence on standard error."""
    print(f"tengbc: {text}", file=sys.stderr)


def print_json(content: dict[str, Any]) -> None:
    """The summary on standard output, and nothing else there."""
    sys.stdout.write(json.dumps(content, indent=1, allow_nan=False) + "\n")


def print_summary(
    solution: Solution, errors: Errors | None, content: dict[str, Any], files: list[Path]
) -> None:
    """The summary as a table; colours only on a terminal, and none where NO_COLOR is set."""
    title = f"{content['problem'] or 'your problem'}: {content['outcome']}"
    style = "bold green" if solution.result else "bold red"
    print_table(title, _rows(solution, errors, content, files), title_style=style)


def print_table(title: str, rows: Iterable[Sequence[str]], *heads: str, **styles: str) -> None:
    """Rows of text with a title, and heads if there are any."""
    table = Table(*heads, title=title, show_header=bool(heads), **styles)  # pyright: ignore[reportArgumentType]
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def _rows(
    solution: Solution, errors: Errors | None, content: dict[str, Any], files: list[Path]
) -> Iterator[tuple[str, str]]:
    asked = content.get("rtol")
    if asked is not None:
        yield "relative error asked for", f"{asked:.1e}"
    if errors is not None:
        last, error = errors.by_time[-1]
        worst = f"{errors.worst:.2e}, " if math.isfinite(errors.worst) else ""
        yield "relative L² error, worst", f"{worst}{errors.when}"
        yield "  at the start", f"{errors.by_time[0][1]:.2e}"
        if last > 0:
            yield f"  at t = {last:g}", f"{error:.2e}"
    if content["error_estimate_max"] is not None:
        yield "estimated error, worst", f"{content['error_estimate_max']:.2e}"
    if solution.result and solution.result.message:  # from when on the tolerance holds
        yield "remark", solution.result.message
    what, over_time = "estimate", solution.error_estimate.tolist()
    if errors is not None:
        what, over_time = "error", [error for _, error in errors.by_time]
    if curve := sparkline(over_time):
        yield f"{what} over time, log scale", curve
    whole = f"0 to {content['t_end']:g} in {content['steps']} steps"
    reached = float(solution.times[-1])  # a run that ended on its way says how far it came
    yield "time", whole if reached >= content["t_end"] else f"0 to {reached:.6g}, of {whole}"
    yield "strategy, scheme", f"{content.get('strategy', 'unknown')}, {content['scheme']}"
    yield (
        "size",
        f"{content['parameters']:,} parameters, {content['interior_points']:,} interior and "
        f"{content['boundary_points']:,} boundary points",
    )
    yield "seconds", ", ".join(f"{name} {value:.2f}" for name, value in content["seconds"].items())
    for path in files:
        yield ("report" if path.suffix == ".html" else "written to"), str(path)


def sparkline(values: Sequence[float], width: int = 32) -> str:
    """Bars on a logarithmic scale, the largest value of each of `width` equal parts.

    Values that are not positive and finite are left blank. Within one factor of two all bars are
    low: noise does not look like growth.
    """
    count = min(width, len(values))
    ends = [k * len(values) // count for k in range(count + 1)] if count else []
    parts = [filter(lambda v: 0 < v < math.inf, values[a:b]) for a, b in pairwise(ends)]
    largest = [max(part, default=0.0) for part in parts]
    logs = [math.log10(value) if value else None for value in largest]
    known = [value for value in logs if value is not None]
    if not known:
        return ""
    low = min(known)
    span = max(max(known) - low, math.log10(2.0) * len(BARS))
    return "".join(
        " " if value is None else BARS[min(int((value - low) / span * len(BARS)), len(BARS) - 1)]
        for value in logs
    )
