"""tengbc plot, export and report: pictures, files and pages of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import SolutionPath, numbers, solution_file
from tengbc.errors import UsageError, file_errors
from tengbc.export import FORMATS

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


def export(
    directory: SolutionPath,
    to: Annotated[str, typer.Option(help="netcdf, zarr, vtk, csv or npz.")],
    times: Annotated[
        str | None, typer.Option(help="Times such as 0,0.5,1; else the stored ones.")
    ] = None,
    grid: Annotated[
        int | None, typer.Option(min=2, max=10_000, help="Grid points per axis (vtk: cells).")
    ] = None,
    points: Annotated[
        Path | None, typer.Option(help="CSV file of points, one on each line, instead of a grid.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write.")] = None,
) -> None:
    """Write the solution of a run for other programs; without --out, DIR/solution.…"""
    if to not in FORMATS:
        raise UsageError(f"There is no format {to!r}; choose one of {', '.join(FORMATS)}.")
    if grid is not None and points is not None:
        raise UsageError("A grid and points exclude each other; give --grid or --points.")
    if points is not None and not points.is_file():
        raise UsageError(f"There is no file {points}; check the path.")
    file = solution_file(directory)
    chosen = None if times is None else numbers(times, "times")
    target = out or file.with_suffix(FORMATS[to])
    from tengbc.export.files import export as write
    from tengbc.export.files import read_points
    from tengbc.solution.file import load

    solution = load(file)
    where = grid if points is None else read_points(points, solution.problem.domain.dim)
    print(write(solution, to, target, where=where, times=chosen))


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
