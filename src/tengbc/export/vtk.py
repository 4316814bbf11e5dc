"""A VTK time series for ParaView and PyVista: NAME.pvd, and one NAME/….vtu for each time."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.export.dataset import named, region_numbers
from tengbc.geometry import Domain, grids
from tengbc.geometry.mesh import triangulate
from tengbc.optional import extra
from tengbc.storage.atomic import write_atomically

if TYPE_CHECKING:
    from tengbc.solution import Solution

Array = np.ndarray
ACROSS = {1: 400, 2: 80, 3: 20}
LINE, TRIANGLE, TETRAHEDRON = 3, 5, 10
KINDS = {2: LINE, 3: TRIANGLE, 4: TETRAHEDRON}
"""VTK's number for a cell, by its number of corners."""


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
    if solution.problem.domain.region_names:
        middle = points[corners].mean(axis=1)
        mesh.cell_data["region"] = region_numbers(solution.problem.domain, middle)
    folder = target.with_suffix("")
    folder.mkdir(exist_ok=True)
    lines = []
    for index, t in enumerate(times):
        for field, values in named(solution, np.asarray(solution(points, float(t)))).items():
            mesh.point_data[field] = values
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


def cells(
    domain: Domain, across: int | None = None
) -> tuple[Float[Array, "n d"], Int[Array, "c s"]]:
    """Points of the closed domain, and lines, triangles or tetrahedra between them that fill it.

    There are about `across` in each direction.
    """
    count = across or ACROSS.get(domain.dim, 0)
    if domain.dim == 1:
        x = np.linspace(*domain.bounds, count + 1)
        return x, np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
    if domain.dim == 2:
        return triangulate(domain, count)
    if domain.dim == 3:
        return _tetrahedra(domain, count)
    raise UsageError(
        f"VTK has cells up to three dimensions, and the domain has {domain.dim}; "
        f"export to netcdf or csv instead."
    )


def _tetrahedra(domain: Domain, across: int) -> tuple[Array, Array]:
    """Between a grid inside and points of the boundary itself; what lies outside is left out."""
    from scipy.spatial import Delaunay

    lower, upper = domain.bounds
    spacing = float((upper - lower).max()) / across
    if domain.fills_box:
        return _boxes(lower, upper, spacing)
    inside = domain.interior(rule="uniform", per_axis=across).x
    inside = inside[domain._inside(inside, -0.6 * spacing)]
    counts = {name: domain.segment_measure(name) / spacing**2 for name in domain.segments}
    rim = [domain.boundary(name, max(1, round(count))).x for name, count in counts.items()]
    points = np.concatenate([*rim, inside])
    # Points of a grid lie on common spheres, which leaves Qhull slivers: shake them a little.
    shaken = points + 1e-5 * spacing * np.random.default_rng(0).normal(size=points.shape)
    shaken[: len(points) - len(inside)] = points[: len(points) - len(inside)]
    corners = Delaunay((shaken - lower) / spacing).simplices
    kept = corners[domain.contains(points[corners].mean(axis=1))]
    used, renumbered = np.unique(kept, return_inverse=True)
    return points[used], renumbered.reshape(kept.shape)


def _boxes(lower: Array, upper: Array, spacing: float) -> tuple[Array, Array]:
    """Six tetrahedra around the diagonal of each box of a grid, one for each order of the axes."""
    counts = [max(1, round(float(length) / spacing)) for length in upper - lower]
    points = grids.with_ends(lower, upper, counts)
    index = np.arange(len(points)).reshape([n + 1 for n in counts])
    ends = (np.s_[:-1], np.s_[1:])
    parts = []
    for order in permutations(range(3)):
        corner, path = [0, 0, 0], [index[:-1, :-1, :-1]]
        for axis in order:
            corner[axis] = 1
            path.append(index[tuple(ends[end] for end in corner)])
        parts.append(np.stack([step.ravel() for step in path], axis=1))
    return points, np.concatenate(parts)
