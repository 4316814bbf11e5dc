"""The points of a report's pictures: on a line, in the plane, on slices of a solid."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from tengbc.figures.views import View, views
from tengbc.geometry.domain import Domain
from tengbc.geometry.grids import axis_names, cell_centres, tensor
from tengbc.problem import Problem
from tengbc.report.drawing import closed_rings
from tengbc.report.numbers import bytes_as_text
from tengbc.storage.checksummed import plain

Array = np.ndarray
LINE_POINTS = 241
MASK = 160
"""Pixels per side of the mask of a slice."""


@dataclass(frozen=True)
class Raster:
    """Points of one picture, row by row, and what the page has to know to draw it."""

    points: Float[Array, "n d"]
    layout: dict[str, Any]


def rasters(domain: Domain, per_axis: int) -> list[Raster]:
    """The pictures of a domain, of about `per_axis`² points each."""
    if domain.dim == 1:
        (view,) = views(domain)
        x = np.linspace(*view.bounds, LINE_POINTS)
        return [Raster(x, _layout(view, "line") | {"shape": [LINE_POINTS]})]
    return [_map(view, per_axis) for view in views(domain)]


def _map(view: View, per_axis: int) -> Raster:
    domain, (lower, upper) = view.domain, view.bounds
    x, shape = _grid(lower, upper, per_axis)
    points = view.place(x)
    layout = _layout(view, "map") | {"shape": shape}
    if domain.dim == 2:
        lines = [line for _, line in domain.outline(240)] if domain.segments else []
        (left, bottom), (right, top) = lower, upper
        box = np.array([[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]])
        rings = closed_rings(lines, domain.scale) or [box]
        layout["rings"] = [plain(ring.ravel(), 6) for ring in rings]
    else:
        names = axis_names(domain.dim)
        where = ", ".join(f"{names[axis]} = {value:.4g}" for axis, value in view.fixed)
        layout["title"] = f"{names[view.axes[0]]}{names[view.axes[1]]}-plane, {where}"
        layout["mask"] = None if domain.contains(points).all() else _mask(view)
    return Raster(_pulled_inside(domain, points), layout)


def _layout(view: View, kind: str) -> dict[str, Any]:
    names, (lower, upper) = axis_names(view.domain.dim), view.bounds
    return {
        "kind": kind,
        "axes": [names[axis] for axis in view.axes],
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    }


def _grid(lower: Array, upper: Array, per_axis: int) -> tuple[Float[Array, "n 2"], list[int]]:
    """Square cells, about per_axis² of them; the first axis runs fastest, as in a picture."""
    width, height = upper - lower
    spacing = np.sqrt(width * height) / (per_axis - 1)
    columns, rows = (max(2, round(float(extent / spacing)) + 1) for extent in (width, height))
    axes = [np.linspace(lower[1], upper[1], rows), np.linspace(lower[0], upper[0], columns)]
    return tensor(axes)[:, ::-1], [rows, columns]


def _pulled_inside(domain: Domain, x: Float[Array, "n d"]) -> Float[Array, "n d"]:
    """Points outside the domain move to the boundary, so that nothing is extrapolated."""
    outside = ~domain.contains(x)
    if not outside.any():
        return x
    count = 2000 if domain.dim == 2 else 6000
    rim = np.concatenate([domain.boundary(segment, count).x for segment in domain.segments])
    moved = x.copy()
    moved[outside] = rim[KDTree(rim).query(x[outside])[1]]
    return moved


def _mask(view: View) -> dict[str, Any]:
    """How much of each pixel lies inside, 0 to 255."""
    lower, upper = view.bounds
    x = cell_centres(lower[::-1], upper[::-1], [3 * MASK] * 2)[:, ::-1]
    inside = view.domain.contains(view.place(x)).reshape(MASK, 3, MASK, 3)
    return {"size": MASK, "bytes": bytes_as_text(np.rint(255 * inside.mean(axis=(1, 3))))}


def reference_raster(
    problem: Problem, per_axis: int
) -> tuple[Raster, Callable[[float], Float[Array, " n"]]] | None:
    """Every k-th point of a reference on a grid, and its values there; None if there is no grid.

    On the reference's own points the error of a picture is not one of interpolation.
    """
    reference, domain = problem.reference, problem.domain
    if reference is None:
        return None
    axes = [np.unique(reference.points[:, axis]) for axis in range(domain.dim)]
    counts = [len(axis) for axis in axes]
    if np.prod(counts) != len(reference.points):
        return None
    most = per_axis if domain.dim > 1 else max(counts)
    kept = [np.arange(0, count, -(-count // most)) for count in counts]
    if domain.periodic:  # the upper end is the lower one again
        kept = [np.append(indices, 0) for indices in kept]
    # np.lexsort orders by its last key first, so this is the order of a picture: rows of y.
    order = np.lexsort(tuple(reference.points.T)).reshape(counts[::-1])
    chosen = order[np.ix_(*reversed(kept))]
    points = reference.points[chosen.ravel()]
    layout = _layout(views(domain)[0], "line" if domain.dim == 1 else "map")
    if not domain.periodic:
        ends = [axis[indices] for axis, indices in zip(axes, kept, strict=True)]
        layout["lower"] = [float(end.min()) for end in ends]
        layout["upper"] = [float(end.max()) for end in ends]
    layout["shape"] = list(chosen.shape)
    return Raster(points, layout), lambda t: reference.values_at(t)[chosen.ravel()]
