"""Cells that fill a domain up to its boundary: lines, triangles or tetrahedra."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.geometry import Ball, Domain
from tengbc.geometry.mesh import triangulate

Array = np.ndarray
ACROSS = {1: 400, 2: 80, 3: 20}


def cells(
    domain: Domain, across: int | None = None
) -> tuple[Float[Array, "n d"], Int[Array, "c s"]]:
    """Points of the closed domain, and cells between them, about `across` in each direction."""
    count = across or ACROSS.get(domain.dim, 0)
    if domain.dim == 1:
        x = np.linspace(*domain.bounds, count + 1)
        return x, np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
    if domain.dim == 2:
        return triangulate(domain, count)
    if domain.dim == 3:
        return _tetrahedra(domain, count)
    raise UsageError(
        f"VTK has cells up to three dimensions, and the domain has {domain.dim}; "
        f"export to netcdf or csv instead."
    )


def _tetrahedra(domain: Domain, across: int) -> tuple[Array, Array]:
    from scipy.spatial import Delaunay

    lower, upper = domain.bounds
    spacing = float((upper - lower).max()) / across
    if isinstance(domain, Ball):
        inside = domain.interior(rule="uniform", per_axis=across).x
        inside = inside[domain._inside(inside, -0.6 * spacing)]
        rim = domain.boundary("sphere", round(domain.segment_measure("sphere") / spacing**2)).x
        points = np.concatenate([rim, inside])
        # Points of a grid lie on common spheres, which leaves Qhull slivers: shake them a little.
        shaken = points + 1e-5 * spacing * np.random.default_rng(0).normal(size=points.shape)
        shaken[: len(rim)] = rim
        return points, Delaunay((shaken - lower) / spacing).simplices
    return _boxes(domain, spacing)


def _boxes(domain: Domain, spacing: float) -> tuple[Array, Array]:
    """Six tetrahedra around the diagonal of each box of a grid; boxes outside are left out."""
    lower, upper = domain.bounds
    counts = [max(1, round(float(length) / spacing)) for length in upper - lower]
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(lower, upper, counts, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    index = np.arange(len(points)).reshape([n + 1 for n in counts])
    ends = (np.s_[:-1], np.s_[1:])

    def corner(i: int, j: int, k: int) -> Array:
        return index[ends[i], ends[j], ends[k]].ravel()

    parts = []
    for first, second in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
        path = [np.zeros(3, dtype=int)]
        for axis in (first, second, 3 - first - second):
            path.append(path[-1] + np.eye(3, dtype=int)[axis])
        parts.append(np.stack([corner(*step.tolist()) for step in path], axis=1))
    tetrahedra = np.concatenate(parts)
    inside = domain.contains(points)
    kept = tetrahedra[inside[tetrahedra].all(axis=1)]
    used, renumbered = np.unique(kept, return_inverse=True)
    return points[used], renumbered.reshape(kept.shape)
