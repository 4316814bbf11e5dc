"""Meshes of the package's plane domains, one file per kind of domain."""

from tengbc.evidence.baselines.fem.meshes.build import build_mesh as build_mesh
from tengbc.evidence.baselines.fem.meshes.mesh import FemMesh as FemMesh
