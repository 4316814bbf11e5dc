"""Tables: CSV at probe points and NumPy archives."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from tengbc.errors import OutputError, UsageError
from tengbc.export.dataset import attributes, sampled
from tengbc.export.places import Places, axis_names
from tengbc.storage.atomic import write_atomically

if TYPE_CHECKING:
    from tengbc.solution import Solution


def write_csv(solution: Solution, target: Path, times: np.ndarray, sites: Places) -> None:
    """A line per time and point: time, x, y, …, u; all digits, so that nothing is lost."""
    inside = solution.problem.domain.contains(sites.x)
    if sites.axes:  # of a grid, only what lies in the domain
        sites = Places(sites.x[inside])
    values = sampled(solution, sites, times).reshape(len(times), len(sites.x), -1)
    components = solution.problem.components
    fields = [f"u{k + 1}" for k in range(components)] if solution.problem.shape else ["u"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *axis_names(sites.x.shape[1]), *fields])
    for t, rows in zip(times.tolist(), values.tolist(), strict=True):
        writer.writerows([t, *x, *row] for x, row in zip(sites.x.tolist(), rows, strict=True))
    write_atomically(target, text.getvalue().encode())


def write_npz(solution: Solution, target: Path, times: np.ndarray, sites: Places) -> None:
    """Arrays time, u, and points or the axes x, y, …; attributes as JSON text."""
    names = axis_names(sites.x.shape[1])
    where = dict(zip(names, sites.axes, strict=False)) if sites.axes else {"points": sites.x}
    about = np.array(json.dumps(attributes(solution), ensure_ascii=False))
    arrays = {"time": times, "u": sampled(solution, sites, times), "attributes": about, **where}
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
