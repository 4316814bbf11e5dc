"""Meshes of plane domains, one file per kind of domain."""

from collections.abc import Callable

from tengbc import geometry
from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.meshes.cartesian import periodic_mesh, rectangle_mesh
from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh
from tengbc.evidence.baselines.fem.meshes.plane import plane_mesh
from tengbc.evidence.baselines.fem.meshes.round import disk_mesh, ring_mesh

MESHERS: dict[type, Callable[..., FemMesh]] = {
    geometry.Disk: disk_mesh,
    geometry.Annulus: ring_mesh,
    geometry.AnnularSector: ring_mesh,
    geometry.Rectangle: rectangle_mesh,
    geometry.Box: rectangle_mesh,
    geometry.PeriodicBox: periodic_mesh,
}
"""Regular meshes; all other plane domains, polygons among them, have irregular ones."""


def build_mesh(domain: geometry.Domain, resolution: int) -> FemMesh:
    """A mesh with about `resolution` cells along the longest side of the bounding box."""
    if isinstance(resolution, bool) or not isinstance(resolution, int) or resolution < 2:
        raise UsageError(
            f"resolution is {resolution!r}, but it counts the cells across the domain; "
            f"give a whole number of 2 or more."
        )
    if domain.dim != 2:
        raise UsageError(
            f"The finite-element solver has no mesh for {type(domain).__name__} in dimension "
            f"{domain.dim}; it knows plane domains only."
        )
    return MESHERS.get(type(domain), plane_mesh)(domain, resolution).centred()
