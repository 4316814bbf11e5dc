"""Cartesian grids over a box."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError

MOST_NUMBERS = 50_000_000  # 400 MB


def tensor(axes: Sequence[Float[np.ndarray, " _"]]) -> Float[np.ndarray, "n d"]:
    """All combinations of the axes' values, the last axis running fastest."""
    total = len(axes) * float(np.prod([float(len(axis)) for axis in axes]))
    if total > MOST_NUMBERS:
        raise UsageError(
            f"A grid of {' x '.join(str(len(axis)) for axis in axes)} points is too large; "
            "take fewer points per axis, a lower order, or the rule 'low-discrepancy'."
        )
    if not axes:  # a grid of no axes is one point: the end of an interval
        return np.zeros((1, 0))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def cell_centres(
    lower: Float[np.ndarray, " d"], upper: Float[np.ndarray, " d"], counts: Sequence[int]
) -> Float[np.ndarray, "n d"]:
    """Centres of equal cells, so that no point lies on the faces of the box."""
    boxes = zip(lower, upper, counts, strict=True)
    return tensor([low + (high - low) * (np.arange(n) + 0.5) / n for low, high, n in boxes])


def with_ends(
    lower: Float[np.ndarray, " d"], upper: Float[np.ndarray, " d"], counts: Sequence[int]
) -> Float[np.ndarray, "n d"]:
    """Corners of so many equal cells along each axis, those on the faces of the box too."""
    boxes = zip(lower, upper, counts, strict=True)
    return tensor([np.linspace(low, high, n + 1) for low, high, n in boxes])


def counts_for(n: int, extents: Sequence[float], measure: float) -> list[int]:
    """Points per axis for about n points: spacing (measure / n)^(1/d) on every axis."""
    spacing = (measure / n) ** (1 / max(1, len(extents)))
    return [max(1, round(extent / spacing)) for extent in extents]


def axis_names(dim: int) -> list[str]:
    """x, y, z, and from four dimensions on x1, x2, …"""
    return ["x", "y", "z"][:dim] if dim <= 3 else [f"x{axis + 1}" for axis in range(dim)]
