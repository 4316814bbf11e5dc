"""Polynomials of a total degree that are orthonormal over a region.

Those of one degree are coordinates times those of the degree before, freed of all earlier ones and
made orthonormal; to evaluate them the same is done again with the same numbers. Products of
Legendre's polynomials on a box around the region would span the same space, but on a disk their
combinations lose six digits by degree 26.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

Array = np.ndarray
INDEPENDENT = 1e-10
"""A feature whose part independent of those before it is smaller than this is left out."""
NEARLY_DEPENDENT = 1e-8
"""If the eigenvalues of a degree's products differ by this factor, each product is looked at."""


@cache
def exponents(dim: int, degree: int) -> np.ndarray:
    """Degrees along each axis of the powers of a total degree, those of low degree first."""
    every = itertools.product(range(degree + 1), repeat=dim)
    return np.array(sorted((e for e in every if sum(e) <= degree), key=lambda e: (sum(e), e)))


def count(dim: int, degree: int) -> int:
    """How many polynomials have at most this total degree."""
    return math.comb(degree + dim, dim)


@cache
def filled(dim: int, degree: int) -> np.ndarray:
    """Which entries of a mixing are not zero: a feature is made of none of a higher degree."""
    total = exponents(dim, degree).sum(axis=1)
    return total[:, None] <= total[None, :]


class _Block(NamedTuple):
    """The features of one degree: where they stand, and which products they are made of.

    For each axis: the features that are multiplied by it, and the shares of these products.
    """

    first: int
    last: int
    parents: list[np.ndarray]
    shares: list[np.ndarray]

    def products(self, z: Float[Array, "b q d"], earlier: Float[Array, "b q _n"]) -> Array:
        """Σ √(eₐ/|e|)·zₐ·φ of the exponent lowered along axis a: balanced, so independent."""
        parts = zip(np.moveaxis(z, -1, 0), self.parents, self.shares, strict=True)
        return sum(
            (share * x[..., None] * earlier[..., parent] for x, parent, share in parts),
            start=np.zeros(1),
        )


@cache
def _blocks(dim: int, degree: int) -> tuple[_Block, ...]:
    """The features of degrees 1, 2, …"""
    powers = exponents(dim, degree)
    number = {tuple(e): k for k, e in enumerate(powers.tolist())}
    found = []
    for k in range(1, degree + 1):
        first, last = count(dim, k - 1), count(dim, k)
        parents, shares = [], []
        for axis in range(dim):
            lowered = powers[first:last] - np.eye(dim, dtype=int)[axis]
            parents.append(np.array([number.get(tuple(e), 0) for e in lowered.tolist()]))
            shares.append(np.sqrt(powers[first:last, axis] / k))
        found.append(_Block(first, last, parents, shares))
    return tuple(found)


def features(
    z: Float[Array, "b q d"], mixing: Float[Array, "b n n"], degree: int, slopes: bool = True
) -> tuple[Float[Array, "b q n"], list[Float[Array, "b q n"]]]:
    """The features that `mixing` describes at z, and their derivatives by each z."""
    batch, nodes, dim = z.shape
    axes = range(dim) if slopes else ()
    values = np.empty((batch, nodes, mixing.shape[1]))
    derived = [np.zeros(values.shape) for _ in axes]
    values[..., 0] = mixing[:, :1, 0]
    for block in _blocks(dim, degree):
        part, before = slice(block.first, block.last), slice(block.first)
        own, earlier = mixing[:, part, part], mixing[:, before, part]
        values[..., part] = block.products(z, values) @ own + values[..., before] @ earlier
        for axis, found in zip(axes, derived, strict=True):
            lowered = block.shares[axis] * values[..., block.parents[axis]]
            found[..., part] = (block.products(z, found) + lowered) @ own
            found[..., part] += found[..., before] @ earlier
    return values, derived


def orthonormal(
    z: Float[Array, "b q d"], weights: Float[Array, "b q"], degree: int
) -> Float[Array, "b n n"]:
    """The mixing that makes features orthonormal over weighted nodes; dependent ones become zero.

    The columns of a degree hold what its products are multiplied by and, above, what earlier
    features are added with.
    """
    batch, nodes, dim = z.shape
    size = count(dim, degree)
    root = np.sqrt(np.abs(weights))
    mixing, rows = np.zeros((batch, size, size)), np.empty((batch, nodes, size))
    mixing[:, 0, 0] = 1.0 / np.linalg.norm(root, axis=1)
    rows[..., 0] = root * mixing[:, :1, 0]
    for block in _blocks(dim, degree):
        part, before = slice(block.first, block.last), rows[..., : block.first]
        products = found = block.products(z, rows)
        own, earlier, dependent = np.eye(block.last - block.first), 0.0, False
        for _ in range(2):  # once more, for what round-off leaves of the first
            shares = np.swapaxes(before, 1, 2) @ found
            found = found - before @ shares
            inverse, dependent_now = _inverse_roots(np.swapaxes(found, 1, 2) @ found)
            found, own, earlier = found @ inverse, own @ inverse, (earlier - shares) @ inverse
            dependent = dependent | dependent_now
        mixing[:, part, part], mixing[:, : block.first, part] = own, earlier
        rows[..., part] = found
        for k in np.flatnonzero(dependent):
            mixing[k][:, part] = _of_independent(rows[k], products[k], block)
    return mixing


def _inverse_roots(gram: Float[Array, "b m m"]) -> tuple[Float[Array, "b m m"], Bool[Array, " b"]]:
    """G^(−½), which changes little where G does, and which are nearly singular."""
    values, vectors = np.linalg.eigh(gram)
    largest = np.maximum(values[:, -1:], np.finfo(float).tiny)
    safe = np.maximum(values, NEARLY_DEPENDENT * largest)
    inverse = (vectors / np.sqrt(safe)[:, None]) @ np.swapaxes(vectors, 1, 2)
    return inverse, values[:, 0] <= NEARLY_DEPENDENT * largest[:, 0]


def _of_independent(
    rows: Float[Array, "q n"], products: Float[Array, "q m"], block: _Block
) -> Float[Array, "n m"]:
    """The columns of a degree where some are dependent: each is freed of those kept before."""
    size, m = rows.shape[1], products.shape[1]
    mixing, basis = np.zeros((size, m)), np.eye(size)
    rows[:, block.first : block.last] = 0.0
    for k in range(m):
        column, combination = products[:, k].copy(), basis[block.first + k].copy()
        for _ in range(2):
            shares = rows[:, : block.last].T @ column
            column -= rows[:, : block.last] @ shares
            combination[: block.first] -= shares[: block.first]
            combination -= mixing @ shares[block.first :]
        length = np.linalg.norm(column)
        if length > INDEPENDENT * np.linalg.norm(products[:, k]):
            rows[:, block.first + k], mixing[:, k] = column / length, combination / length
    return mixing
