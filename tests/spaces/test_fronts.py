"""Nested dissection and its factors, against dense algebra."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from tengbc import costs
from tengbc.spaces.fronts import Dissection, Factors, factorised


def grid(counts, sizes):
    """Patches of a grid: centres, unknowns of each, and which touch."""
    places = list(itertools.product(*map(range, counts)))
    number = {place: k for k, place in enumerate(places)}
    pairs = [
        (k, number[beside])
        for place, k in number.items()
        for axis in range(len(counts))
        if (beside := tuple(p + (a == axis) for a, p in enumerate(place))) in number
    ]
    unknowns = np.array([sizes[k % len(sizes)] for k in range(len(places))])
    return np.array(places, dtype=float), unknowns, np.array(pairs).reshape(-1, 2)


def matrix_of(sizes, pairs, rng, symmetric=True):
    """A matrix with a full block for each patch and each pair that touches."""
    ends = np.cumsum(sizes)
    found = np.zeros((ends[-1], ends[-1]))
    for i, j in [*pairs.tolist(), *([k, k] for k in range(len(sizes)))]:
        rows, columns = (slice(ends[k] - sizes[k], ends[k]) for k in (i, j))
        found[rows, columns] = rng.normal(size=found[rows, columns].shape)
        found[columns, rows] = rng.normal(size=found[columns, rows].shape)
    return found + found.T if symmetric else found


@pytest.mark.parametrize("counts", [(7,), (9, 8), (4, 5, 4), (1, 12)])
@pytest.mark.parametrize("kind", ["positive", "indefinite", "complex", "unsymmetric"])
def test_solutions_are_those_of_dense_algebra(counts, kind):
    rng = np.random.default_rng(3)
    centres, sizes, pairs = grid(counts, [21, 10, 36])
    dissection = Dissection(centres, sizes, pairs)
    assert sorted(dissection.order) == list(range(sizes.sum()))
    matrix = matrix_of(sizes, pairs, rng, kind != "unsymmetric")
    lowest = np.linalg.eigvalsh(matrix + matrix.T)[0] / 2
    if kind != "indefinite":
        matrix = matrix + (1.0 - lowest) * np.eye(len(matrix))
    if kind == "complex":
        matrix = np.eye(len(matrix)) + (1.0 + 0.8j) * matrix
    factors = factorised(sp.csc_matrix(matrix), dissection, kind != "unsymmetric")
    for columns in ((), (3,)):
        right = rng.normal(size=(len(matrix), *columns))
        expected = np.linalg.solve(matrix, right)
        np.testing.assert_allclose(factors.solve(right), expected, rtol=1e-6, atol=1e-9)
    if kind == "positive":
        both = factors.solve(right + 1j * right[:, ::-1])
        np.testing.assert_allclose(both.imag, expected[:, ::-1], rtol=1e-6, atol=1e-9)


def test_factors_hold_as_many_numbers_as_the_dissection_foretells():
    rng = np.random.default_rng(0)
    centres, sizes, pairs = grid((8, 8), [10])
    dissection = Dissection(centres, sizes, pairs)
    matrix = matrix_of(sizes, pairs, rng)
    matrix += (1.0 - np.linalg.eigvalsh(matrix)[0]) * np.eye(len(matrix))
    factors = Factors(sp.csc_matrix(matrix), dissection, True)
    held = sum(part.size for parts in factors._parts for part in parts)
    assert held == factors.entries == dissection.entries
    assert max(group.entries for group in dissection.groups) <= dissection.workspace


@pytest.mark.parametrize(("dim", "counts", "most"), [(1, 256, 2.1), (2, 24, 6.0), (3, 7, 24.0)])
def test_factors_grow_as_nested_dissection_does(dim, counts, most):
    """N, N·log N and N^(4/3) in one, two and three dimensions; a band would make it 2, 8 and 32."""
    held = [Dissection(*grid((n,) * dim, [21])).entries for n in (counts, 2 * counts)]
    assert held[1] / held[0] < most


def test_patches_that_lie_at_one_place_are_one_group():
    """As where a hole's slivers leave patches with the same centre."""
    dissection = Dissection(np.zeros((9, 2)), np.full(9, 30), np.array([[0, 1], [1, 2]]))
    assert len(dissection.groups) == 1


@pytest.mark.parametrize(("dim", "count"), [(1, 64), (2, 12), (2, 40), (3, 4), (3, 9)])
def test_what_factors_take_is_foretold_within_a_factor(dim, count):
    found = Dissection(*grid((count,) * dim, [21]))
    groups = [(group.eliminated, len(group.rest)) for group in found.groups]
    work = sum(k**3 / 3 + k**2 * q + k * q**2 for k, q in groups)
    held = found.entries + found.workspace
    assert 0.6 < costs.factor_size(dim, count**dim, 21) / held < 2.0
    assert 0.6 < costs.factor_work(dim, count**dim, 21) / work < 2.5
