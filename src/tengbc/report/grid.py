"""Where the pictures are taken: points on a line, in the plane, on slices of a solid."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from tengbc.geometry.domain import Domain
from tengbc.geometry.grids import tensor
from tengbc.report.encoding import bytes_as_text, plain
from tengbc.report.rings import closed_rings

Array = np.ndarray
AXES = ("x", "y", "z")
LINE_POINTS = 241
MASK = 160
"""Pixels per side of the mask of a slice."""


@dataclass(frozen=True)
class View:
    """Points of one picture, row by row, and what the page has to know to draw it."""

    points: Float[Array, "n d"]
    layout: dict[str, Any]


def axis_names(dim: int) -> list[str]:
    """x, y, z, or x1, x2, … where there are more."""
    return list(AXES[:dim]) if dim <= 3 else [f"x{axis + 1}" for axis in range(dim)]


def views(domain: Domain, per_axis: int) -> list[View]:
    """The pictures of a domain, of about `per_axis`² points each."""
    if domain.dim == 1:
        return [_line(domain)]
    if domain.dim == 2:
        return [_plane(domain, per_axis)]
    pairs = list(combinations(range(domain.dim), 2)) if domain.dim == 3 else [(0, 1)]
    return [_slice(domain, pair, per_axis) for pair in pairs]


def _line(domain: Domain) -> View:
    (low,), (high,) = domain.bounds
    x = np.linspace(low, high, LINE_POINTS)[:, None]
    layout = {"kind": "line", "axes": axis_names(1), "lower": [low], "upper": [high]}
    return View(x, layout | {"shape": [LINE_POINTS]})


def _plane(domain: Domain, per_axis: int) -> View:
    lower, upper = domain.bounds
    x, shape = _grid(lower, upper, per_axis)
    lines = [line for _, line in domain.outline(240)] if domain.segments else []
    rings = closed_rings(lines, domain.scale) or [_corners(lower, upper)]
    return View(
        _pulled_inside(domain, x),
        {
            "kind": "map",
            "axes": axis_names(2),
            "lower": lower.tolist(),
            "upper": upper.tolist(),
            "shape": shape,
            "rings": [plain(ring.ravel()) for ring in rings],
        },
    )


def _slice(domain: Domain, pair: tuple[int, int], per_axis: int) -> View:
    """The plane through the middle of the domain's box along two axes."""
    lower, upper = domain.bounds
    chosen, middle = list(pair), (lower + upper) / 2
    names = axis_names(domain.dim)
    x, shape = _grid(lower[chosen], upper[chosen], per_axis)
    fixed = [axis for axis in range(domain.dim) if axis not in pair]
    where = ", ".join(f"{names[axis]} = {middle[axis]:.4g}" for axis in fixed)
    layout = {
        "kind": "map",
        "axes": [names[axis] for axis in chosen],
        "lower": lower[chosen].tolist(),
        "upper": upper[chosen].tolist(),
        "shape": shape,
        "title": f"{names[pair[0]]}{names[pair[1]]}-plane, {where}",
        "mask": None,
    }
    points = _placed(x, chosen, middle)
    if not domain.contains(points).all():
        layout["mask"] = _mask(domain, chosen, middle)
    return View(_pulled_inside(domain, points), layout)


def _grid(lower: Array, upper: Array, per_axis: int) -> tuple[Float[Array, "n 2"], list[int]]:
    """Square cells, about per_axis² of them; the first axis runs fastest, as in a picture."""
    width, height = upper - lower
    spacing = np.sqrt(width * height) / (per_axis - 1)
    columns, rows = (max(2, round(float(extent / spacing)) + 1) for extent in (width, height))
    axes = [np.linspace(lower[1], upper[1], rows), np.linspace(lower[0], upper[0], columns)]
    return tensor(axes)[:, ::-1], [rows, columns]


def _placed(x: Float[Array, "n 2"], chosen: list[int], middle: Array) -> Float[Array, "n d"]:
    points = np.tile(middle, (len(x), 1))
    points[:, chosen] = x
    return points


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


def _corners(lower: Array, upper: Array) -> Float[Array, "5 2"]:
    (left, bottom), (right, top) = lower, upper
    return np.array([[left, bottom], [right, bottom], [right, top], [left, top], [left, bottom]])


def _mask(domain: Domain, chosen: list[int], middle: Array) -> dict[str, Any]:
    """How much of each pixel lies inside, 0 to 255."""
    lower, upper = domain.bounds
    fine = 3 * MASK
    ticks = [
        lower[axis] + (upper[axis] - lower[axis]) * (np.arange(fine) + 0.5) / fine
        for axis in reversed(chosen)
    ]
    x = tensor(ticks)[:, ::-1]
    inside = domain.contains(_placed(x, chosen, middle)).reshape(MASK, 3, MASK, 3)
    return {"size": MASK, "bytes": bytes_as_text(np.rint(255 * inside.mean(axis=(1, 3))))}
