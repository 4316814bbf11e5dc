"""Least-squares problems of every unpleasant kind, from a number alone."""

import numpy as np

KINDS = (
    "duplicate-columns",
    "duplicate-rows",
    "zero-column",
    "zero-row",
    "zero-matrix",
    "graded",
    "low-rank",
    "scaled-columns",
    "scaled-rows",
    "consistent",
)


def case(seed: int):
    """A, b and the kinds they are of: m < n, m = n, m > n; κ to 1e18; scales to 1e±150."""
    rng = np.random.default_rng([seed, 20])
    m, n = rng.integers(1, 25, 2)
    kinds = set(rng.choice(KINDS, size=rng.integers(0, 4), replace=False))
    matrix = _spread(rng, kinds, rng.normal(size=(m, n)))
    if "duplicate-columns" in kinds:
        matrix[:, rng.integers(n)] = matrix[:, rng.integers(n)]
    if "duplicate-rows" in kinds:
        matrix[rng.integers(m)] = matrix[rng.integers(m)]
    if "zero-column" in kinds:
        matrix[:, rng.integers(n)] = 0
    if "zero-row" in kinds:
        matrix[rng.integers(m)] = 0
    if "zero-matrix" in kinds:
        matrix[:] = 0
    b = matrix @ rng.normal(size=n) if "consistent" in kinds else rng.normal(size=m)
    scale, scale_right = 10.0 ** rng.uniform(-150, 150, 2) if rng.random() < 0.5 else (1.0, 1.0)
    return matrix * scale, b * scale_right, kinds


def complex_case(seed: int):
    """The same with a phase for each row and column, which leaves singular values as they are."""
    matrix, b, kinds = case(seed)
    rng = np.random.default_rng([seed, 22])
    rows, columns = (np.exp(2j * np.pi * rng.random(n)) for n in matrix.shape)
    return rows[:, None] * matrix * columns, rows * b, kinds


def _spread(rng, kinds, matrix):
    """Singular values from 1 to 1e-18, few of them, or rows and columns of different sizes."""
    m, n = matrix.shape
    if "low-rank" in kinds:
        rank = rng.integers(1, min(m, n) + 1)
        matrix = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    if "graded" in kinds:
        left, _, right = np.linalg.svd(matrix, full_matrices=False)
        matrix = left * np.logspace(0, -rng.uniform(0, 18), min(m, n)) @ right
    if "scaled-columns" in kinds:
        matrix = matrix * 10.0 ** rng.uniform(-9, 0, n)
    if "scaled-rows" in kinds:
        matrix = matrix * 10.0 ** rng.uniform(-9, 0, m)[:, None]
    return matrix


def conditioned(condition, m=30, n=12, seed=0):
    """A random matrix whose singular values fall evenly from 1 to 1/condition, and a b."""
    rng = np.random.default_rng([seed, 21])
    left, _, right = np.linalg.svd(rng.normal(size=(m, n)), full_matrices=False)
    singular = np.logspace(0, -np.log10(condition), min(m, n))
    return left * singular @ right, rng.normal(size=m), singular
