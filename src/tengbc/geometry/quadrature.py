"""Rules on reference shapes, weights positive and of sum one."""

from collections.abc import Sequence
from functools import cache
from math import ceil

import numpy as np
from jaxtyping import Float

from tengbc.geometry import grids

Rule = tuple[Float[np.ndarray, " _"], Float[np.ndarray, " _"]]  # nodes and weights


@cache
def _legendre(count: int) -> Rule:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    nodes, weights = (1 + nodes) / 2, weights / weights.sum()
    nodes.flags.writeable = weights.flags.writeable = False  # the cache hands out the same arrays
    return nodes, weights


def interval(order: int) -> Rule:
    """Gauss–Legendre on [0, 1], exact for polynomials of degree `order`."""
    return _legendre(order // 2 + 1)


def angle(order: int, span: float) -> Rule:
    """Gauss–Legendre for an arc of `span` radians, in fractions of the arc.

    A polynomial of degree p is a trigonometric one of degree p along the arc, which m nodes
    resolve to round-off once 2m exceeds its frequency p·span/2 by a margin.
    """
    return _legendre(ceil(order * span / 4) + order // 4 + 10)


def circle(order: int) -> Rule:
    """Equispaced points of a full turn, exact for trigonometric polynomials of degree `order`."""
    return np.arange(order + 1) / (order + 1), np.full(order + 1, 1 / (order + 1))


def product(rules: Sequence[Rule]) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Tensor product of one-dimensional rules."""
    nodes = grids.tensor([nodes for nodes, _ in rules])
    return nodes, grids.tensor([weights for _, weights in rules]).prod(axis=1)


def triangle(order: int) -> tuple[Float[np.ndarray, "n 2"], Float[np.ndarray, " n"]]:
    """Rule on {u, v ≥ 0, u + v ≤ 1}, exact for polynomials of degree `order`.

    The square is collapsed by (u, v) = (a, (1−a)·b); its Jacobian 1−a costs one degree in a.
    """
    nodes, weights = product([interval(order + 1), interval(order)])
    a, b = nodes.T
    return np.stack([a, (1 - a) * b], axis=1), 2 * (1 - a) * weights
