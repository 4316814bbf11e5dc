"""What is drawn of a domain: a line, a filled map, or three slices, each with its points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.geometry import Ball, Disk, Domain, Rectangle
from tengbc.geometry.mesh import triangulate

Array = np.ndarray
SUBSCRIPTS = "₁₂₃₄₅₆₇₈₉"


@dataclass(frozen=True, eq=False)
class View:
    """Points of the domain, their one or two coordinates in the picture, and triangles of them."""

    x: Float[Array, "n d"]
    axes: tuple[int, ...]
    triangles: Int[Array, "t 3"] | None
    outline: list[Float[Array, "k 2"]]
    title: str = ""

    @property
    def shown(self) -> Float[Array, "n s"]:
        """The coordinates in the picture."""
        return self.x[:, self.axes]

    def label(self, axes: Any) -> None:
        """Names at the axes, and equal scales in the plane."""
        axes.set_xlabel(coordinate(self.axes[0]))
        if len(self.axes) == 2:
            axes.set_ylabel(coordinate(self.axes[1]))
            axes.set_aspect("equal")
            for spine in axes.spines.values():
                spine.set_visible(False)
            for line in self.outline:
                axes.plot(*line.T, color="#333333", linewidth=0.8, zorder=3)


def coordinate(axis: int) -> str:
    """x₁, x₂, …"""
    return f"x{SUBSCRIPTS[axis]}"


def views(domain: Domain) -> list[View]:
    """One view in one and two dimensions, the three middle slices in three."""
    if domain.dim == 1:
        x = domain.evaluation_grid(1001)
        return [View(x, (0,), None, [])]
    if domain.dim == 2:
        return [_map(domain, (0, 1), lambda plane: plane)]
    if domain.dim == 3:
        return [_slice(domain, pair) for pair in ((0, 1), (0, 2), (1, 2))]
    raise UsageError(
        f"A domain of dimension {domain.dim} cannot be drawn; "
        f"evaluate the solution on a line or a plane of your choice."
    )


def _map(
    plane: Domain, axes: tuple[int, int], place: Callable[[Array], Array], title: str = ""
) -> View:
    points, triangles = triangulate(plane, across=90)
    outline = [line for _, line in plane.outline(400)] if plane.segments else []
    return View(place(points), axes, triangles, outline, title)


def _slice(domain: Domain, pair: tuple[int, int]) -> View:
    lower, upper = domain.bounds
    middle = (lower + upper) / 2
    (across,) = {0, 1, 2} - set(pair)

    def place(plane: Float[Array, "n 2"]) -> Float[Array, "n 3"]:
        x = np.tile(middle, (len(plane), 1))
        x[:, pair] = plane
        return x

    title = f"{coordinate(across)} = {middle[across]:.3g}"
    if isinstance(domain, Ball):
        return _map(Disk(domain.radius, tuple(middle[list(pair)])), pair, place, title)
    whole = _map(Rectangle(tuple(lower[list(pair)]), tuple(upper[list(pair)])), pair, place, title)
    inside = domain.contains(whole.x)
    if inside.all() or whole.triangles is None:
        return whole
    kept = whole.triangles[inside[whole.triangles].all(axis=1)]
    return View(whole.x, pair, kept, [], title)
