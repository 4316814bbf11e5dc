"""Sampling and integration on a set of triangles that fill a domain."""

import numpy as np
from jaxtyping import Float

from tengbc.geometry import quadrature
from tengbc.geometry.faces import split


def areas(corners: Float[np.ndarray, "t 3 2"]) -> Float[np.ndarray, " t"]:
    """Area of each triangle."""
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    return np.abs(ax * by - ay * bx) / 2


def spread(
    corners: Float[np.ndarray, "t 3 2"], u: Float[np.ndarray, "n 2"]
) -> Float[np.ndarray, "n 2"]:
    """The unit square onto the triangles, preserving area.

    The first coordinate picks a triangle in proportion to its area; what is left of it, and the
    second, give the place there: (1−√a)·A + √a·((1−b)·B + b·C).
    """
    index, a = split(u[:, 0], areas(corners))
    first, second, third = np.moveaxis(corners[index], 1, 0)
    root, b = np.sqrt(a)[:, None], u[:, 1:]
    return (1 - root) * first + root * ((1 - b) * second + b * third)


def gauss(
    corners: Float[np.ndarray, "t 3 2"], order: int
) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
    """Nodes and weights exact for polynomials of degree `order`."""
    s, weights = quadrature.triangle(order)
    sides = corners[:, 1:] - corners[:, :1]
    x = corners[:, :1] + s @ sides
    return x.reshape(-1, 2), np.outer(areas(corners), weights).ravel()
