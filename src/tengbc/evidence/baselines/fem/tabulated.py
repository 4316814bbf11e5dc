"""Basis functions and their gradients at the quadrature points of cells or boundary facets."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int

from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh, scikit_fem

Array = np.ndarray
INTEGRATION_ORDER = 5
"""Exact for u·∂u·φ on straight elements; on curved ones beyond the order of the method."""


@dataclass(frozen=True, eq=False)
class Tabulated:
    """φₖ and ∇φₖ at quadrature points, e cells or facets with q points and k functions each.

    `values` is shared by all cells (leading axis of one), but not by facets, which lie differently
    in their elements. `weights` carry the measure; facets have outward `normals`. Equations are
    tested with `tests`, which are the basis functions themselves unless they lean upstream.
    """

    unknowns: int
    numbers: Int[Array, "e k"]
    points: Float[Array, "e q 2"]
    weights: Float[Array, "e q"]
    values: Float[Array, "f q k"]
    gradients: Float[Array, "e q 2 k"]
    tests: Float[Array, "g q k"]
    normals: Float[Array, "e q 2"] | None = None

    def products(self, factor: Float[Array, "e q"] | float = 1.0) -> scipy.sparse.csr_matrix:
        """∫ c φᵢφⱼ."""
        weighted = self.tests * (self.weights * factor)[..., None]
        return self._matrix(weighted.transpose(0, 2, 1) @ self.values)

    def stiffness(self, factor: Float[Array, "e q"] | float = 1.0) -> scipy.sparse.csr_matrix:
        """∫ c ∇φᵢ·∇φⱼ."""
        cells, points, _, functions = self.gradients.shape
        weighted = self.gradients * (self.weights * factor)[..., None, None]
        flat = (cells, 2 * points, functions)
        return self._matrix(
            weighted.reshape(flat).transpose(0, 2, 1) @ self.gradients.reshape(flat)
        )

    def convection(self, velocity: Float[Array, "e q 2"]) -> scipy.sparse.csr_matrix:
        """∫ φᵢ w·∇φⱼ."""
        along = np.einsum("eqd,eqdk->eqk", velocity, self.gradients)
        weighted = self.tests * self.weights[..., None]
        return self._matrix(weighted.transpose(0, 2, 1) @ along)

    def load(self, f: Float[Array, "e q"]) -> Float[Array, " n"]:
        """∫ f φᵢ."""
        weighted = self.weights * f
        if len(self.tests) == 1:  # shared by all cells: one product of matrices
            local = weighted @ self.tests[0]
        else:
            local = (weighted[:, None, :] @ self.tests)[:, 0]
        return np.bincount(self.numbers.ravel(), local.ravel(), self.unknowns)

    def field(self, u: Float[Array, " n"]) -> Float[Array, "e q"]:
        """A discrete function at the quadrature points."""
        if len(self.values) == 1:
            return u[self.numbers] @ self.values[0].T
        return (self.values @ u[self.numbers][..., None])[..., 0]

    def slope(self, u: Float[Array, " n"]) -> Float[Array, "e q"]:
        """Σᵢ∂ᵢu at the quadrature points."""
        return np.einsum("eqk,ek->eq", self._slopes, u[self.numbers])

    @cached_property
    def _slopes(self) -> Float[Array, "e q k"]:
        return self.gradients.sum(axis=2)

    def _matrix(self, local: Float[Array, "e k k"]) -> scipy.sparse.csr_matrix:
        functions = self.numbers.shape[1]
        rows = np.repeat(self.numbers, functions, axis=1).ravel()
        columns = np.tile(self.numbers, functions).ravel()
        shape = (self.unknowns, self.unknowns)
        return scipy.sparse.csr_matrix((local.ravel(), (rows, columns)), shape=shape)


def tabulate_cells(mesh: FemMesh) -> Tabulated:
    """The basis inside the cells."""
    cells = _tabulated(mesh, scikit_fem().CellBasis)
    shared = cells.values[:1].copy()  # all cells have the same
    return replace(cells, values=shared, tests=shared)


def tabulate_facets(mesh: FemMesh, facets: Int[Array, " f"]) -> Tabulated:
    """The basis on boundary facets."""
    return _tabulated(mesh, scikit_fem().FacetBasis, facets=facets)


def leaning_upstream(cells: Tabulated, velocity: Float[Array, "e q 2"]) -> Tabulated:
    """Cells tested with φ + τ v·∇φ, τ = h/2|v|: streamline upwinding (SUPG).

    With plain φ quadratic elements transport with order two only; upwinding restores order three
    and, being a choice of test functions, changes no exact solution.
    """
    speed = np.linalg.norm(velocity, axis=-1)
    size = np.sqrt(cells.weights.sum(axis=1, keepdims=True))
    # Where the flow nearly rests a tenth of its largest speed keeps τ finite.
    delay = size / 2 / np.maximum(speed, max(0.1 * float(speed.max()), 1e-300))
    along = np.einsum("eqd,eqdk->eqk", velocity, cells.gradients)
    return replace(cells, tests=cells.values + delay[..., None] * along)


def _tabulated(mesh: FemMesh, kind: Any, **chosen: Any) -> Tabulated:
    rule = {"intorder": INTEGRATION_ORDER, "dofs": mesh.dofs, "disable_doflocs": True}
    basis = kind(mesh.mesh, mesh.element, **rule, **chosen)
    values = np.stack([np.asarray(function[0]) for function in basis.basis], axis=-1)
    gradients = np.stack([function[0].grad for function in basis.basis], axis=-1)
    return Tabulated(
        unknowns=mesh.unknowns,
        numbers=mesh.numbers[basis.element_dofs.T],
        points=np.moveaxis(np.asarray(basis.global_coordinates()), 0, -1) + mesh.origin,
        weights=basis.dx,
        values=values,
        tests=values,
        gradients=np.ascontiguousarray(np.moveaxis(gradients, 0, 2)),
        normals=np.moveaxis(np.asarray(basis.normals), 0, -1) if chosen else None,
    )
