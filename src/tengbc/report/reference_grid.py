"""A picture on the points of a stored reference, so that its error is not one of interpolation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from tengbc.problem import Problem
from tengbc.report.grid import View, axis_names

Array = np.ndarray


def reference_view(
    problem: Problem, per_axis: int
) -> tuple[View, Callable[[float], Float[Array, " n"]]] | None:
    """Every k-th point of a reference on a grid, and its values there; None if there is no grid."""
    reference, domain = problem.reference, problem.domain
    if reference is None:
        return None
    axes = [np.unique(reference.points[:, axis]) for axis in range(domain.dim)]
    counts = [len(axis) for axis in axes]
    if np.prod(counts) != len(reference.points):
        return None
    most = per_axis if domain.dim > 1 else max(counts)
    kept = [np.arange(0, count, -(-count // most)) for count in counts]
    if domain.periodic:  # the upper end is the lower one again
        kept = [np.append(indices, 0) for indices in kept]
    # np.lexsort orders by its last key first, so this is the order of a picture: rows of y.
    order = np.lexsort(tuple(reference.points.T)).reshape(counts[::-1])
    chosen = order[np.ix_(*reversed(kept))]
    points = reference.points[chosen.ravel()]
    lower, upper = domain.bounds
    low = np.array([axis[indices].min() for axis, indices in zip(axes, kept, strict=True)])
    high = np.array([axis[indices].max() for axis, indices in zip(axes, kept, strict=True)])
    if domain.periodic:
        low, high = lower, upper
    layout = {
        "kind": "line" if domain.dim == 1 else "map",
        "axes": axis_names(domain.dim),
        "lower": low.tolist(),
        "upper": high.tolist(),
        "shape": list(chosen.shape),
    }
    return View(points, layout), lambda t: reference.values_at(t)[chosen.ravel()]
