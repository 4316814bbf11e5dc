"""Biquadratic squares on the rectangle and on the periodic rectangle."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh, halvings, scikit_fem
from tengbc.geometry import Box, PeriodicBox, Rectangle

Array = np.ndarray


def rectangle_mesh(domain: Rectangle | Box, resolution: int) -> FemMesh:
    """Equal cells, `resolution` of them along the longer side."""
    lower, upper = domain.bounds
    found, cells = _squares(lower, upper, resolution)
    mesh, facets = found.mesh, found.mesh.boundary_facets()
    middles = mesh.p[:, mesh.facets[:, facets]].mean(axis=1)
    # Half a cell is a safe distance to tell which side a facet lies on.
    margin = (upper - lower) / cells / 4
    segments = {
        "left": facets[middles[0] < lower[0] + margin[0]],
        "right": facets[middles[0] > upper[0] - margin[0]],
        "bottom": facets[middles[1] < lower[1] + margin[1]],
        "top": facets[middles[1] > upper[1] - margin[1]],
    }
    return replace(found, segments=segments)


def periodic_mesh(domain: PeriodicBox, resolution: int) -> FemMesh:
    """Equal cells; nodes on opposite sides are one unknown."""
    lower, upper = domain.bounds
    found, cells = _squares(lower, upper, resolution)
    nodes = found.nodes
    # Nodes lie on a grid of half cells: their places there, modulo the period, are whole numbers.
    places = np.rint((nodes - lower) / (upper - lower) * 2 * cells).astype(int) % (2 * cells)
    keys = places[:, 0] * (2 * cells[1]) + places[:, 1]
    _, first, shared = np.unique(keys, return_index=True, return_inverse=True)
    # Number the unknowns as the mesh does: that order suits the factorisation.
    rank = np.empty(len(first), dtype=int)
    rank[np.argsort(first)] = np.arange(len(first))
    return replace(found, numbers=rank[shared], nodes=nodes[np.sort(first)])


def _squares(
    lower: Float[Array, " 2"], upper: Float[Array, " 2"], resolution: int
) -> tuple[FemMesh, Int[Array, " 2"]]:
    """A mesh of equal cells, without names on its boundary, and how many there are on each axis."""
    skfem, sides = scikit_fem(), upper - lower
    wanted = np.maximum(1.0, resolution * sides / sides.max())
    refinements = halvings(float(wanted.min()), 4)
    coarse = np.maximum(1, np.rint(wanted / 2**refinements)).astype(int)
    axes = [np.linspace(lower[i], upper[i], coarse[i] + 1) for i in range(2)]
    mesh = skfem.MeshQuad.init_tensor(*axes)
    mesh = mesh.refined(refinements) if refinements else mesh
    element = skfem.ElementQuad2()
    dofs = skfem.Dofs(mesh, element)
    nodes = np.zeros((dofs.N, 2))
    nodes[dofs.element_dofs] = mesh.mapping().F(element.doflocs.T).transpose(2, 1, 0)
    found = FemMesh(mesh, element, dofs, {}, np.arange(len(nodes)), nodes)
    return found, coarse * 2**refinements
