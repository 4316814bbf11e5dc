"""Where in the mesh a point lies, and the matrix that evaluates discrete functions there."""

from typing import Any

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from tengbc.evidence.baselines.fem.meshes import FemMesh

Array = np.ndarray
ROUNDS = ((4, 1e-10), (16, 0.02), (64, 0.02), (256, 0.02))
"""How many of the nearest cells are tried, and how far outside the best of them, in units of the
cell, a point may lie to be content with it. The first round finds nearly all points; those beyond a
curved boundary are settled by the second, and only in meshes with needles are there more."""
NEWTON_STEPS = 6


def interpolation(mesh: FemMesh, x: Float[Array, "n 2"]) -> scipy.sparse.csr_matrix:
    """P with (P u)ᵢ = u(xᵢ): each row holds the basis functions of the cell that xᵢ lies in.

    A point that rounding, or a curved boundary, leaves outside every cell gets the nearest one's
    functions, which extend smoothly over so small a distance.
    """
    cells, reference = locate(mesh, x)
    values, _ = _basis(mesh.element, reference)
    numbers = mesh.element_numbers[cells]
    rows = np.repeat(np.arange(len(x)), numbers.shape[1])
    shape = (len(x), mesh.unknowns)
    return scipy.sparse.csr_matrix((values.ravel(), (rows, numbers.ravel())), shape=shape)


def locate(mesh: FemMesh, x: Float[Array, "n 2"]) -> tuple[Int[Array, " n"], Float[Array, "n 2"]]:
    """The cell of each point, and the point's coordinates in the reference cell."""
    x = x - mesh.origin
    corners = mesh.mesh.p.T[mesh.mesh.t.T]
    tree = KDTree(corners.mean(axis=1))
    cell = np.zeros(len(x), dtype=int)
    reference = np.zeros((len(x), 2))
    outside = np.full(len(x), np.inf)
    lost = np.arange(len(x))
    for count, tolerance in ROUNDS:
        nearest = tree.query(x[lost], k=min(count, len(corners)))[1].reshape(len(lost), -1)
        places = _inverse(mesh, nearest, x[lost])
        distance = _outside(mesh.element, places)
        best = np.argmin(distance, axis=1)
        rows = np.arange(len(lost))
        better = distance[rows, best] < outside[lost]
        chosen, rows, best = lost[better], rows[better], best[better]
        cell[chosen] = nearest[rows, best]
        reference[chosen] = places[rows, best]
        outside[chosen] = distance[rows, best]
        lost = lost[outside[lost] > tolerance]
        if not len(lost) or count >= len(corners):
            break
    return cell, reference


def _inverse(
    mesh: FemMesh, cells: Int[Array, "n c"], x: Float[Array, "n 2"]
) -> Float[Array, "n c 2"]:
    """Reference coordinates of each point in each candidate cell, by Newton's method.

    On straight cells the first step is exact.
    """
    shape = mesh.mesh.elem()
    node_places = mesh.mesh.doflocs.T[mesh.mesh.dofs.element_dofs.T[cells]]
    place = np.broadcast_to(shape.doflocs.mean(axis=0), (*cells.shape, 2)).copy()
    for _ in range(NEWTON_STEPS):
        values, slopes = _basis(shape, place)
        miss = x[:, None] - np.einsum("nck,nckd->ncd", values, node_places)
        jacobian = np.einsum("nckj,nckd->ncdj", slopes, node_places)
        (a, b), (c, d) = np.moveaxis(jacobian, (-2, -1), (0, 1))
        determinant = a * d - b * c
        step = np.stack([d * miss[..., 0] - b * miss[..., 1], a * miss[..., 1] - c * miss[..., 0]])
        # Far candidates would be thrown off by a curved cell's map: keep them within reach.
        place += np.clip(np.moveaxis(step / determinant, 0, -1), -2, 2)
        place = np.clip(place, -3, 4)
    return place


def _basis(
    element: Any, place: Float[Array, "... 2"]
) -> tuple[Float[Array, "... k"], Float[Array, "... k 2"]]:
    """Basis functions of a scikit-fem element and their derivatives in the reference cell."""
    flat = place.reshape(-1, 2).T
    pairs = [element.lbasis(flat, k) for k in range(len(element.doflocs))]
    layout = place.shape[:-1]
    values = np.stack([np.broadcast_to(value, flat.shape[1:]) for value, _ in pairs], axis=-1)
    slopes = np.stack(
        [np.stack(np.broadcast_arrays(*slope, flat[0])[:2]) for _, slope in pairs], axis=-1
    )
    return values.reshape(*layout, -1), np.moveaxis(slopes, 0, -1).reshape(*layout, -1, 2)


def _outside(element: Any, place: Float[Array, "... 2"]) -> Float[Array, "..."]:
    """How far a place lies outside the reference cell; nothing inside."""
    s, t = place[..., 0], place[..., 1]
    triangle = len(element.refdom.p.T) == 3
    over = s + t - 1 if triangle else np.maximum(s, t) - 1
    return np.maximum(np.maximum(np.maximum(-s, -t), over), 0.0)
