"""Closed curves from the pieces of a boundary, so that pictures can be cut along them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

Array = np.ndarray
Line = Float[Array, "k 2"]


def closed_rings(lines: Sequence[Line], size: float) -> list[Line]:
    """Join lines end to end, turning them round where needed, until they close.

    Ends that lie within 10⁻⁶ × `size` of each other are one corner. Lines that do not close are
    closed by a straight edge.
    """
    near = 1e-6 * size
    left, rings = list(lines), []
    while left:
        ring = left.pop(0)
        while left and np.linalg.norm(ring[-1] - ring[0]) > near:
            following = _next(ring[-1], left, near)
            if following is None:
                break
            ring = np.concatenate([ring, following[1:]])
        rings.append(ring)
    return rings


def _next(end: Float[Array, " 2"], left: list[Line], near: float) -> Line | None:
    """Take the line that starts or stops at `end` out of `left`, running away from there."""
    for index, line in enumerate(left):
        for candidate in (line, line[::-1]):
            if np.linalg.norm(candidate[0] - end) <= near:
                del left[index]
                return candidate
    return None
