"""Least squares over blocks of rows, against NumPy on all rows at once."""

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.lstsq import ConjugateGradients, RegularisedQR, spectrum
from tengbc.lstsq.blocks import RowBlocks
from tengbc.lstsq.tall import (
    RegularisedTallQR,
    TallLeastSquares,
    block_factors,
    block_triangles,
    whole_triangle,
)


def rows(matrix, blocks):
    """The rows of a matrix in blocks, with zeros where they do not come out even."""
    real = blocks.real(len(matrix))
    return blocks.cut(matrix) * real.reshape(*real.shape, *(1,) * (matrix.ndim - 1))


def graded(rng, m, n, kind=float):
    """A matrix whose singular values fall to 1e-8 of the largest."""
    matrix = rng.normal(size=(m, n)) + (1j * rng.normal(size=(m, n)) if kind is complex else 0)
    return matrix * np.logspace(0, -8, n)


@pytest.mark.parametrize("kind", [float, complex])
@pytest.mark.parametrize("m", [11, 40, 203])
def test_regularised_as_on_one_host(m, kind):
    rng, blocks = np.random.default_rng(m), RowBlocks(8, 1)
    matrix, b = graded(rng, m, 20, kind), rng.normal(size=m)
    factors = blocks.program(block_factors(lambda _, a: a))(None, rows(matrix, blocks))
    tall, host = RegularisedTallQR(blocks, factors, 1e-9), RegularisedQR(matrix, 1e-9)
    found, wanted = tall.solve(rows(b.astype(kind), blocks)), host.solve(b.astype(kind))
    left, least = (np.linalg.norm(b - matrix @ x) for x in (found, wanted))
    assert abs(left - least) < 1e-9 * np.linalg.norm(b)
    np.testing.assert_allclose(matrix @ found, matrix @ wanted, atol=1e-7 * np.linalg.norm(b))
    np.testing.assert_allclose(
        np.abs(np.diag(tall.triangle)), np.abs(np.diag(host.triangle)), rtol=1e-6, atol=1e-12
    )
    assert tall.condition == pytest.approx(host.condition, rel=1e-5)


@pytest.mark.parametrize(("method", "host"), [("svd", spectrum), ("gram", ConjugateGradients)])
@pytest.mark.parametrize("m", [12, 300])
def test_cut_off_and_damped_as_on_one_host(m, method, host):
    rng, blocks = np.random.default_rng(m), RowBlocks(8, 1)
    matrix, b, other = graded(rng, m, 24), rng.normal(size=m), rng.normal(size=m)
    both = rows(np.column_stack([matrix, b]), blocks)
    triangles = blocks.program(block_triangles(lambda _, a: a))(None, both)
    tall = TallLeastSquares(
        whole_triangle(blocks.gather(triangles)), lambda c: matrix.T @ c, method
    )
    alone = host(np.ascontiguousarray(matrix.T), b)
    for cutoff in (1e-2, 1e-4):
        found, wanted = tall.solve(cutoff), alone.solve(cutoff)
        np.testing.assert_allclose(
            matrix @ found.x, matrix @ wanted.x, atol=2e-2 * np.linalg.norm(wanted.x)
        )
        assert found.residual == pytest.approx(np.linalg.norm(b - matrix @ found.x), abs=1e-9)
        assert found.residual == pytest.approx(wanted.residual, rel=2e-2, abs=1e-9)
        assert found.rank == pytest.approx(wanted.rank, abs=1)
        np.testing.assert_allclose(
            tall.again(other, cutoff), alone.again(other, cutoff), rtol=1e-5, atol=1e-8
        )


def test_damped_is_the_minimum():
    rng = np.random.default_rng(1)
    matrix, b = graded(rng, 60, 10), rng.normal(size=60)
    triangle = np.linalg.qr(np.column_stack([matrix, b]), mode="r")
    tall = TallLeastSquares(triangle, lambda c: matrix.T @ c, "gram")
    damping = 1e-3 * np.sqrt(np.linalg.norm(matrix.T @ matrix))
    stacked = np.concatenate([matrix, damping * np.eye(10)])
    wanted = np.linalg.lstsq(stacked, np.append(b, np.zeros(10)), rcond=None)[0]
    np.testing.assert_allclose(tall.solve(1e-3).x, wanted, rtol=1e-9)


def test_rows_are_shared_out_evenly_and_added_up():
    blocks = RowBlocks(8, 1)
    array = np.arange(19.0)
    assert blocks.size(19) == 3
    assert blocks.cut(array).shape == (8, 3)
    assert blocks.real(19).sum() == 19
    assert blocks.sum((blocks.cut(array) * blocks.real(19)).sum(axis=1)) == array.sum()
    assert blocks.norm(blocks.cut(array) * blocks.real(19)) == pytest.approx(np.linalg.norm(array))
    squares = blocks.program(lambda factor, x: factor * x**2)(2.0, blocks.cut(array))
    np.testing.assert_array_equal(blocks.local(squares).ravel()[:19], 2 * array**2)


def test_a_block_is_computed_as_it_is_alone():
    """The program of a block does not know how many blocks there are, so bits are the same."""
    x = np.random.default_rng(0).normal(size=(8, 57, 3))
    function = lambda shared, rows: jnp.tanh(rows @ shared) / jnp.exp(rows.sum(axis=1))[:, None]
    shared = np.random.default_rng(1).normal(size=(3, 31))
    many = np.asarray(RowBlocks(8, 1).program(function)(shared, x))
    for b in range(8):
        alone = np.asarray(RowBlocks(1, 1).program(function)(shared, x[b : b + 1]))
        np.testing.assert_array_equal(many[b], alone[0])


@pytest.mark.parametrize(("count", "devices", "said"), [(8, 3, "8 blocks"), (64, 64, "JAX sees 1")])
def test_what_cannot_be_shared_out_is_refused(count, devices, said):
    with pytest.raises(UsageError, match=said):
        RowBlocks(count, devices)
