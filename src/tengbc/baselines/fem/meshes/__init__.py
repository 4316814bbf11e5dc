"""Meshes of the package's plane domains, one file per kind of domain."""

from tengbc.baselines.fem.meshes.build import build_mesh as build_mesh
from tengbc.baselines.fem.meshes.mesh import FemMesh as FemMesh
