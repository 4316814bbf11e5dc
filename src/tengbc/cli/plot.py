"""tengbc plot: pictures of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import SolutionPath, numbers, solution_file
from tengbc.errors import UsageError, file_errors

SUFFIXES = (".png", ".pdf", ".svg", ".jpg", ".gif", ".mp4")


def plot(
    directory: SolutionPath,
    times: Annotated[
        str | None, typer.Option(help="Times such as 0,0.5,1; else start, middle and end.")
    ] = None,
    error: Annotated[bool, typer.Option("--error", help="Draw the error, not the values.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Picture (.png .pdf .svg .jpg) or animation (.gif .mp4)."),
    ] = None,
    dpi: Annotated[int, typer.Option(min=20, max=1000, help="Dots per inch.")] = 150,
) -> None:
    """Draw the solution of a run; without --out, DIR/solution.png."""
    file = solution_file(directory)
    chosen = None if times is None else numbers(times, "times")
    target = out or file.with_name("error.png" if error else "solution.png")
    if target.suffix not in SUFFIXES:
        raise UsageError(f"{target} ends in none of {', '.join(SUFFIXES)}; choose one of these.")
    moving = target.suffix in (".gif", ".mp4")
    if moving and (error or times):
        raise UsageError(
            "An animation shows the values at all times; leave --error and --times out."
        )
    from tengbc.optional import extra
    from tengbc.solution.file import load

    extra("matplotlib", "A figure", "plot").use("Agg")  # files, no windows
    solution = load(file)
    if moving:
        solution.animate(target, dpi=dpi)
    else:
        end = float(solution.times[-1])
        draw = solution.plot_error if error else solution.plot
        axes = draw([0.0, end / 2, end] if chosen is None else chosen)
        figure = getattr(axes, "figure", None) or axes.flat[0].figure
        with file_errors(f"{target} cannot be written", "choose another --out"):
            figure.savefig(target, dpi=dpi)
    print(target)
