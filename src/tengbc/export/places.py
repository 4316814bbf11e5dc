"""Where a solution is sampled: a grid over the bounding box, or points of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.geometry import Domain, grids
from tengbc.pointwise import as_points

Array = np.ndarray
PER_AXIS = {1: 1001, 2: 101, 3: 41}
Where: TypeAlias = int | Sequence | np.ndarray | None
"""Points per axis of a grid; one array per axis of a grid; an array (n, d) of points."""


@dataclass(frozen=True, eq=False)
class Places:
    """The points `x`, and the axes of the grid they form, if they form one."""

    x: Float[Array, "n d"]
    axes: tuple[Float[Array, " m"], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """How values at the points are laid out."""
        return tuple(len(axis) for axis in self.axes) or (len(self.x),)


def axis_names(dim: int) -> tuple[str, ...]:
    """x, y, z, and from four dimensions on x1, x2, …"""
    return ("x", "y", "z")[:dim] if dim <= 3 else tuple(f"x{k + 1}" for k in range(dim))


def places(domain: Domain, where: Where = None) -> Places:
    """The grid or the points that a user asked for."""
    if where is None:
        where = PER_AXIS.get(domain.dim, 11)
    if isinstance(where, int | np.integer):
        if isinstance(where, bool) or where < 2:
            raise UsageError(f"A grid needs two or more points per axis, not {where}.")
        return _grid([np.linspace(a, b, int(where)) for a, b in zip(*domain.bounds, strict=True)])
    if isinstance(where, np.ndarray) and where.ndim == 2:
        return Places(as_points(where, domain.dim))
    try:
        axes = [np.asarray(axis, dtype=float) for axis in where]
    except (TypeError, ValueError):
        axes = []
    if len(axes) == domain.dim and all(map(_is_axis, axes)):
        return _grid(axes)
    raise UsageError(
        f"Where to evaluate must be a number of points per axis, {domain.dim} arrays with the "
        f"increasing values on each axis, or an array of points of shape (n, {domain.dim})."
    )


def _is_axis(values: Array) -> bool:
    """Whether values stand in order: a list of pairs is meant as points, and seldom passes."""
    return values.ndim == 1 and len(values) > 0 and bool((np.diff(values) > 0).all())


def _grid(axes: list[Array]) -> Places:
    return Places(grids.tensor(axes), tuple(axes))
