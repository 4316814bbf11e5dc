"""From a solution to a file that other programs open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengbc.errors import OutputError, UsageError
from tengbc.export.dataset import chosen_times, to_xarray
from tengbc.export.formats import FORMATS
from tengbc.export.places import Where, places
from tengbc.export.tables import write_csv, write_npz
from tengbc.export.vtk import write_vtk
from tengbc.optional import extra

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

    `where` is as for `to_xarray`; VTK has cells of its own, about so many across as it says.
    """
    if form not in FORMATS:
        raise UsageError(f"There is no format {form!r}; choose one of {', '.join(FORMATS)}.")
    path, moments = Path(target), chosen_times(solution, times)
    try:
        if form == "vtk":
            if where is not None and not isinstance(where, int):
                raise UsageError("VTK files hold cells, not points; export these to csv instead.")
            write_vtk(solution, path, moments, where)
        elif form == "csv":
            write_csv(solution, path, moments, places(solution.problem.domain, where))
        elif form == "npz":
            write_npz(solution, path, moments, places(solution.problem.domain, where))
        else:
            _through_xarray(to_xarray(solution, where, moments), form, path)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written ({error.strerror or error}); choose another place."
        ) from None
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
