"""A solution in files that other programs open, and points from a file."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from tengbc.errors import OutputError, UsageError, file_errors
from tengbc.export import FORMATS
from tengbc.export.dataset import (
    SamplePoints,
    Where,
    attributes,
    chosen_times,
    named,
    sample_points,
    sampled,
    to_xarray,
)
from tengbc.export.vtk import write_vtk
from tengbc.geometry.grids import axis_names
from tengbc.optional import extra
from tengbc.storage.atomic import write_atomically

if TYPE_CHECKING:
    from tengbc.solution import Solution


def export(
    solution: Solution,
    form: str,
    target: str | os.PathLike[str],
    *,
    where: Where = None,
    times: Sequence[float] | np.ndarray | None = None,
) -> Path:
    """Write a solution as netcdf, zarr, vtk, csv or npz.

    `where` is as for `to_xarray`; a whole number is about how many cells VTK has along an axis.
    """
    if form not in FORMATS:
        raise UsageError(f"There is no format {form!r}; choose one of {', '.join(FORMATS)}.")
    path, moments = Path(target), chosen_times(solution, times)
    with file_errors(f"{path} cannot be written", "choose another place"):
        if form == "vtk":
            if where is not None and not isinstance(where, int):
                raise UsageError("VTK files hold cells, not points; export these to csv instead.")
            write_vtk(solution, path, moments, where)
        elif form in ("csv", "npz"):
            write = _write_csv if form == "csv" else _write_npz
            write(solution, path, moments, sample_points(solution.problem.domain, where))
        else:
            _through_xarray(to_xarray(solution, where, moments), form, path)
    return path


def _through_xarray(dataset: Any, form: str, path: Path) -> None:
    if path.is_dir() and not any((path / name).exists() for name in (".zgroup", "zarr.json")):
        raise OutputError(f"{path} is a directory that holds other things; choose another name.")
    temporary = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        if form == "netcdf":
            for package in ("h5netcdf", "h5py"):
                extra(package, "A NetCDF file", "export")
            dataset.to_netcdf(temporary, engine="h5netcdf")
        else:
            extra("zarr", "A Zarr store", "export")
            dataset.to_zarr(temporary, mode="w", zarr_format=2, consolidated=True)
            if path.is_dir():
                shutil.rmtree(path)  # a store, as was made sure of
        os.replace(temporary, path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        else:
            temporary.unlink(missing_ok=True)


def _write_csv(solution: Solution, target: Path, times: np.ndarray, points: SamplePoints) -> None:
    """A line per time and point: time, x, y, …, u; all digits, so that nothing is lost."""
    inside = solution.problem.domain.contains(points.x)
    if points.axes:  # of a grid, only what lies in the domain
        points = SamplePoints(points.x[inside])
    values = sampled(solution, points, times).reshape(len(times), len(points.x), -1)
    naming = solution.problem.naming
    fields = naming.names or [f"u{k + 1}" for k in range(naming.components)] or ["u"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *axis_names(points.x.shape[1]), *fields])
    for t, rows in zip(times.tolist(), values.tolist(), strict=True):
        writer.writerows([t, *x, *row] for x, row in zip(points.x.tolist(), rows, strict=True))
    write_atomically(target, text.getvalue().encode())


def _write_npz(solution: Solution, target: Path, times: np.ndarray, points: SamplePoints) -> None:
    """Arrays time, u, and points or the axes x, y, …; attributes as JSON text."""
    names = axis_names(points.x.shape[1])
    where = dict(zip(names, points.axes, strict=False)) if points.axes else {"points": points.x}
    about = np.array(json.dumps(attributes(solution), ensure_ascii=False))
    values = named(solution, sampled(solution, points, times))
    arrays = {"time": times, **values, "attributes": about, **where}
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, **arrays)
    write_atomically(target, data.getvalue())


def read_points(path: Path, dim: int) -> Float[np.ndarray, "n d"]:
    """Points from a CSV file of d columns, with or without a line of names."""
    try:
        rows = [row for row in csv.reader(path.read_text("utf-8-sig").splitlines()) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} cannot be read ({error}); check the file.") from None
    if rows and not _number(rows[0][0]):
        rows = rows[1:]
    for number, row in enumerate(rows, start=1):
        if len(row) != dim or not all(map(_number, row)):
            raise UsageError(
                f"Point {number} in {path} is {','.join(row)!r}, but a point of this problem is "
                f"{dim} numbers with commas between them; correct it."
            )
    if not rows:
        raise UsageError(f"{path} holds no points; write one on each line.")
    return np.array(rows, dtype=float)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
