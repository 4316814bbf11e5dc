"""Polynomials of a total degree: values, slopes, and how to make them orthonormal over a region."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
from jaxtyping import Bool, Float

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
    values = math.prod(factors[1:], start=factors[0])  # with 1 as start it would be copied
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
    rows = np.sqrt(np.abs(weights))[..., None] * values
    mixing, independent = _inverse_triangles(rows)
    # Once more, for what round-off leaves of the first.
    mixing = mixing @ _inverse_triangles(rows @ mixing)[0]
    for k in np.flatnonzero(~independent.all(axis=1)):
        mixing[k] = _of_independent(rows[k])
    return mixing


def _inverse_triangles(
    rows: Float[Array, "b q n"],
) -> tuple[Float[Array, "b n n"], Bool[Array, "b n"]]:
    """R⁻¹ of rows = QR with a positive diagonal, and which columns are independent."""
    triangle = np.linalg.qr(rows, mode="r")
    diagonal = np.diagonal(triangle, axis1=1, axis2=2)
    least = INDEPENDENT * np.maximum(np.linalg.norm(rows, axis=1), np.finfo(float).tiny)
    independent = np.abs(diagonal) > least
    safe = triangle + np.where(independent, 0.0, 1.0 - diagonal)[:, None, :] * np.eye(rows.shape[2])
    # With a positive diagonal the triangle is the only one, whatever the nodes.
    sign = np.where(np.diagonal(safe, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return np.linalg.inv(safe) * sign[:, None, :], independent


def _of_independent(rows: Float[Array, "q n"]) -> Float[Array, "n n"]:
    """The triangle where columns are dependent: each is freed twice of those kept before it.

    QR would give a dependent column some direction of its own, which later ones then lack.
    """
    n = rows.shape[1]
    found, mixing = np.zeros_like(rows), np.zeros((n, n))
    for k in range(n):
        column, combination = rows[:, k].copy(), np.eye(n)[k]
        for _ in range(2):
            shares = found.T @ column
            column, combination = column - found @ shares, combination - mixing @ shares
        size = np.linalg.norm(column)
        if size > INDEPENDENT * np.linalg.norm(rows[:, k]):
            found[:, k], mixing[:, k] = column / size, combination / size
    return mixing
