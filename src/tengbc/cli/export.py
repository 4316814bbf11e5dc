"""tengbc export: a finished run for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from tengbc.cli.arguments import SolutionPath, numbers, solution_file
from tengbc.errors import UsageError
from tengbc.export import FORMATS


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
