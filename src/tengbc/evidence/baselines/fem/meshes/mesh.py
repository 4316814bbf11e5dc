"""What a finite-element solve needs to know of a mesh."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FemMesh:
    """A scikit-fem mesh with its quadratic element, named boundary facets and unknowns.

    `dofs` is scikit-fem's numbering of the nodes, `numbers` the unknown of each node: on a periodic
    mesh several nodes share one. `nodes` are the places of the unknowns. The scikit-fem mesh has
    its coordinates relative to `origin`: far from zero its Newton iterations would not converge.
    """

    mesh: Any
    element: Any
    dofs: Any
    segments: dict[str, Int[Array, " f"]]
    numbers: Int[Array, " m"]
    nodes: Float[Array, "n 2"]
    origin: Float[Array, " 2"] = field(default_factory=lambda: np.zeros(2))

    def centred(self) -> FemMesh:
        """The same mesh with the middle of its bounding box as origin."""
        middle = (self.nodes.min(axis=0) + self.nodes.max(axis=0)) / 2
        moved = replace(self.mesh, doflocs=self.mesh.doflocs - middle[:, None])
        return replace(self, mesh=moved, origin=middle)

    @property
    def unknowns(self) -> int:
        """How many numbers make up a discrete function."""
        return len(self.nodes)

    @property
    def element_numbers(self) -> Int[Array, "e k"]:
        """The unknowns of each element, in the order of its basis functions."""
        return self.numbers[self.dofs.element_dofs.T]

    def facet_numbers(self, facets: Int[Array, " f"]) -> Int[Array, "f 3"]:
        """The unknowns at both ends and in the middle of each facet, in this order."""
        ends = self.dofs.nodal_dofs[0][self.mesh.facets[:, facets]]
        middle = self.dofs.facet_dofs[:1, facets]
        return self.numbers[np.concatenate([ends, middle]).T]
