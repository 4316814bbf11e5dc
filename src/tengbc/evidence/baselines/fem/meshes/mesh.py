"""What a finite-element solve needs to know of a mesh, and how a coarse one is refined.

Refining a coarse mesh rather than making a fine one at once numbers the nodes level by level, and
with such a numbering the sparse factorisation has a third less fill-in.
"""

from __future__ import annotations

import importlib
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from tengbc.errors import UsageError

Array = np.ndarray
Where = Callable[[Float[Array, "n 2"]], Bool[Array, " n"]]
Snap = Callable[[Float[Array, "n 2"]], Float[Array, "n 2"]]


def scikit_fem() -> Any:
    """The module `skfem`, or a sentence that says how to get it."""
    try:
        module = importlib.import_module("skfem")
    except ImportError:
        raise UsageError(
            "The finite-element solver needs scikit-fem, which is not installed; "
            "install it with pip install 'tengbc[fem]'."
        ) from None
    # It warns about every mesh whose elements are not all equally oriented, which is harmless.
    logging.getLogger("skfem").setLevel(logging.ERROR)
    return module


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


@dataclass(frozen=True)
class Segment:
    """A boundary segment: which edges, told by their midpoints, and where its points really lie.

    Without `snap` the segment is straight.
    """

    where: Where
    snap: Snap | None = None


def halvings(cells: int | float, coarsest: int | float) -> int:
    """How often `cells` can be halved without falling below `coarsest`."""
    return max(0, math.floor(math.log2(cells / coarsest) + 1e-9))


def curved_triangles(
    points: Float[Array, "n 2"],
    triangles: Int[Array, "t 3"],
    refinements: int,
    segments: dict[str, Segment],
) -> FemMesh:
    """Quadratic triangles, each curved edge through three points of the true boundary."""
    skfem = scikit_fem()
    curved = any(segment.snap is not None for segment in segments.values())
    # scikit-fem wants its arrays contiguous with points and triangles as columns.
    mesh = skfem.MeshTri1(np.ascontiguousarray(points.T), np.ascontiguousarray(triangles.T))
    for _ in range(refinements):
        mesh = mesh.refined()
        if curved:
            mesh = _moved(mesh, _named(mesh, segments), segments, mesh.facets)
    mesh = skfem.MeshTri2.from_mesh(mesh)
    named = _named(mesh, segments)
    mesh = _moved(mesh, named, segments, mesh.dofs.facet_dofs)
    nodes = np.ascontiguousarray(mesh.doflocs.T)
    return FemMesh(mesh, skfem.ElementTriP2(), mesh.dofs, named, np.arange(len(nodes)), nodes)


def _named(mesh: Any, segments: dict[str, Segment]) -> dict[str, Int[Array, " f"]]:
    """The boundary facets of each segment."""
    facets = mesh.boundary_facets()
    middles = mesh.p[:, mesh.facets[:, facets]].mean(axis=1).T
    return {name: facets[segment.where(middles)] for name, segment in segments.items()}


def _moved(
    mesh: Any, named: dict[str, Array], segments: dict[str, Segment], nodes_of: Int[Array, "k f"]
) -> Any:
    """The mesh with the nodes of curved segments put onto them; `nodes_of` has those of a facet."""
    places = mesh.doflocs.copy()
    for name, segment in segments.items():
        if segment.snap is not None:
            nodes = np.unique(nodes_of[:, named[name]])
            places[:, nodes] = segment.snap(places[:, nodes].T).T
    return replace(mesh, doflocs=places)
