"""A VTK time series for ParaView and PyVista: NAME.pvd, and one NAME/….vtu for each time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from tengbc.export.cells import cells
from tengbc.optional import extra
from tengbc.storage.atomic import write_atomically

if TYPE_CHECKING:
    from tengbc.solution import Solution

LINE, TRIANGLE, TETRAHEDRON = 3, 5, 10
KINDS = {2: LINE, 3: TRIANGLE, 4: TETRAHEDRON}
"""VTK's numbers for cells of so many corners."""


def write_vtk(
    solution: Solution, target: Path, times: np.ndarray, across: int | None = None
) -> None:
    """Values at the corners of cells that end at the domain's boundary, in float64."""
    pyvista = extra("pyvista", "A VTK file", "vtk")
    points, corners = cells(solution.problem.domain, across)
    space = np.zeros((len(points), 3))
    space[:, : points.shape[1]] = points
    kinds = np.full(len(corners), KINDS[corners.shape[1]], dtype=np.uint8)
    sizes = np.full((len(corners), 1), corners.shape[1])
    mesh = pyvista.UnstructuredGrid(np.hstack([sizes, corners]).ravel(), kinds, space)
    folder = target.with_suffix("")
    folder.mkdir(exist_ok=True)
    lines = []
    for index, t in enumerate(times):
        mesh.point_data["u"] = solution(points, float(t))
        name = f"{folder.name}/{folder.name}_{index:04d}.vtu"
        mesh.save(target.parent / name)
        lines.append(f"<DataSet timestep={quoteattr(repr(float(t)))} file={quoteattr(name)}/>")
    # The index comes last: it names only files that are there.
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n'
        + "\n".join(lines)
        + "\n</Collection>\n</VTKFile>\n"
    )
    write_atomically(target, text.encode())
