"""Where in a mesh of NGSolve points lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from tengbc.errors import UsageError

Array = np.ndarray
SHARES = (1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2)
"""How far towards the middle of an element a point is moved that lies outside the mesh."""


def places(mesh: Any, x: Float[Array, "p d"]) -> Any:
    """Points as NGSolve wants them: element and reference coordinates.

    A point between the domain's boundary and the mesh's has no element. It gets the nearest one's
    polynomials: its reference coordinates follow from two points farther inside.
    """
    found = _looked_up(mesh, x)
    lost = np.flatnonzero(found["nr"] < 0)
    middles = _middles(mesh, x.shape[1]) if len(lost) else x
    for share in SHARES:
        if not len(lost):
            break
        inwards = middles[KDTree(middles).query(x[lost])[1]] - x[lost]
        near, far = (_looked_up(mesh, x[lost] + f * share * inwards) for f in (1, 2))
        known = (near["nr"] >= 0) & (near["nr"] == far["nr"])
        for axis in ("x", "y", "z"):
            near[axis] = 2 * near[axis] - far[axis]
        found[lost[known]] = near[known]
        lost = lost[~known]
    if len(lost):
        raise UsageError(
            f"{len(lost)} points lie outside the mesh and near no element of it; take a smaller "
            f"size."
        )
    return found


def _looked_up(mesh: Any, x: Float[Array, "p d"]) -> Any:
    return mesh(*(np.ascontiguousarray(column) for column in x.T))


def _middles(mesh: Any, dim: int) -> Float[Array, "n d"]:
    """The middle of each element's corners."""
    corners = np.array([np.ravel(vertex.point) for vertex in mesh.vertices])
    elements = [[vertex.nr for vertex in element.vertices] for element in mesh.Elements()]
    return np.stack([corners[numbers].mean(axis=0) for numbers in elements])[:, :dim]
