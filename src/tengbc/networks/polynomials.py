"""Polynomials of a total degree: values, slopes, and how to make them orthonormal over a region."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
from jaxtyping import Float

Array = np.ndarray
INDEPENDENT = 1e-10
"""A feature whose part independent of those before it is smaller than this is left out."""


@cache
def exponents(dim: int, degree: int) -> np.ndarray:
    """Degrees along each axis of the products of a total degree, those of low degree first."""
    every = itertools.product(range(degree + 1), repeat=dim)
    return np.array(sorted((e for e in every if sum(e) <= degree), key=lambda e: (sum(e), e)))


def count(dim: int, degree: int) -> int:
    """How many polynomials have at most this total degree."""
    return math.comb(degree + dim, dim)


def legendre(z: Float[Array, "..."], degree: int) -> tuple[Array, Array]:
    """Legendre's polynomials of mean square one on [−1, 1] and their derivatives, degree last."""
    values, slopes = np.zeros((*z.shape, degree + 1)), np.zeros((*z.shape, degree + 1))
    values[..., 0] = 1.0
    if degree:
        values[..., 1], slopes[..., 1] = z, 1.0
    for k in range(2, degree + 1):
        values[..., k] = ((2 * k - 1) * z * values[..., k - 1] - (k - 1) * values[..., k - 2]) / k
        slopes[..., k] = slopes[..., k - 2] + (2 * k - 1) * values[..., k - 1]
    scale = np.sqrt(2 * np.arange(degree + 1) + 1.0)
    return values * scale, slopes * scale


def products(
    z: Float[Array, "b q d"], degree: int, slopes: bool = True
) -> tuple[Float[Array, "b q n"], list[Float[Array, "b q n"]]]:
    """Products of Legendre's polynomials at z ∈ [−1, 1]ᵈ, and their derivatives by each z."""
    dim = z.shape[-1]
    powers = exponents(dim, degree)
    along, derived = legendre(z, degree)
    factors = [along[..., a, powers[:, a]] for a in range(dim)]
    values = math.prod(factors[1:], start=factors[0])
    if not slopes:
        return values, []
    found = []
    for a in range(dim):
        others = [factors[b] for b in range(dim) if b != a]
        found.append(math.prod(others, start=derived[..., a, powers[:, a]]))
    return values, found


def orthonormal(
    values: Float[Array, "b q n"], weights: Float[Array, "b q"]
) -> Float[Array, "b n n"]:
    """Triangles T so that the columns of values·T are orthonormal; dependent ones become zero."""
    n = values.shape[-1]
    # R of QR, twice: once more for what round-off leaves of the first.
    mixing = np.broadcast_to(np.eye(n), (len(values), n, n))
    for _ in range(2):
        rows = np.sqrt(np.abs(weights))[..., None] * (values @ mixing)
        triangle = np.linalg.qr(rows, mode="r")
        diagonal = np.diagonal(triangle, axis1=1, axis2=2)
        kept = np.abs(diagonal) > INDEPENDENT * np.abs(diagonal).max(axis=1, keepdims=True)
        safe = triangle + np.where(kept, 0.0, 1.0 - diagonal)[:, None, :] * np.eye(n)
        inverse = np.linalg.inv(safe) * kept[:, None, :]
        # With a positive diagonal the triangle is the only one, whatever the nodes.
        mixing = mixing @ (inverse * np.where(diagonal < 0, -1.0, 1.0)[:, None, :])
    return mixing
