"""Polynomials that are orthonormal over any region; on an interval they are Legendre's."""

import math

import numpy as np
import pytest
from numpy.polynomial import legendre as reference

from tengbc.networks import polynomials

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("degree", [0, 1, 2, 7, 24])
def test_on_an_interval_they_are_legendres(degree):
    z, w = (v[None] for v in reference.leggauss(degree + 2))
    mixing = polynomials.orthonormal(z[..., None], w, degree)
    x = np.append(np.linspace(-1.0, 1.0, 31), 1.05)
    values, (slopes,) = polynomials.features(x[None, :, None], mixing, degree)
    assert values.shape == slopes.shape == (1, 32, degree + 1)
    for k in range(degree + 1):
        series = math.sqrt(k + 0.5) * np.eye(degree + 1)[k]
        expected, slope = reference.legval(x, series), reference.legval(x, reference.legder(series))
        for found, truth in ((values, expected), (slopes, slope)):
            close = 1e-12 * (1 + abs(truth).max())
            np.testing.assert_allclose(found[0, :, k], truth, rtol=0, atol=close)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("degree", [0, 1, 5])
def test_exponents(dim, degree):
    found = polynomials.exponents(dim, degree)
    assert found.shape == (polynomials.count(dim, degree), dim)
    assert len({tuple(row) for row in found.tolist()}) == len(found)
    totals = found.sum(axis=1)
    assert (np.diff(totals) >= 0).all() and totals[-1] == degree
    richer = polynomials.exponents(dim, degree + 2)
    assert (richer[: len(found)] == found).all()


def made(z, w, degree, at=None):
    """Features that are orthonormal on weighted nodes, there or elsewhere."""
    mixing = polynomials.orthonormal(z, w, degree)
    return polynomials.features(z if at is None else at, mixing, degree, slopes=False)[0]


def scattered(batches, nodes, dim):
    return RNG.uniform(-1, 1, (batches, nodes, dim)), RNG.uniform(0.1, 2.0, (batches, nodes))


@pytest.mark.parametrize("dim, degree", [(1, 8), (2, 6), (3, 4)])
def test_orthonormal_on_weighted_nodes(dim, degree):
    z, w = scattered(3, 80, dim)
    features = made(z, w, degree)
    gram = np.swapaxes(features, 1, 2) @ (w[..., None] * features)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(gram.shape[1]), gram.shape), atol=1e-12)
    mixing = polynomials.orthonormal(z, w, degree)
    assert not mixing[:, ~polynomials.filled(dim, degree)].any()


@pytest.mark.parametrize("dim, degree", [(1, 9), (2, 7), (3, 4)])
def test_slopes_are_those_of_the_values(dim, degree):
    z, w = scattered(2, 80, dim)
    mixing = polynomials.orthonormal(z, w, degree)
    _, slopes = polynomials.features(z, mixing, degree)
    for axis in range(dim):
        h = 1e-5 * np.eye(dim)[axis]
        up, down = (polynomials.features(z + s * h, mixing, degree, False)[0] for s in (1, -1))
        np.testing.assert_allclose(slopes[axis], (up - down) / 2e-5, rtol=1e-5, atol=1e-5)


def disk(nodes):
    """Nodes and weights over the unit disk, exact for polynomials."""
    r, w = reference.leggauss(nodes)
    r, w, angle = (r + 1) / 2, (r + 1) / 4 * w, np.pi * np.arange(2 * nodes) / nodes
    x = r[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return x.reshape(1, -1, 2), np.repeat(w * np.pi / nodes, 2 * nodes)[None]


def test_no_digit_is_lost_on_a_disk_at_a_high_degree():
    """Orthonormal by one rule and evaluated at the nodes of another."""
    x, w = disk(46)
    features = made(*disk(42), 38, at=x)[0]
    gram = features.T @ (w[0, :, None] * features)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=2e-12)


def test_features_of_a_lower_degree_come_first():
    z, w = scattered(2, 90, 2)
    low, high = (made(z, w, degree) for degree in (4, 6))
    np.testing.assert_allclose(high[..., : low.shape[-1]], low, atol=1e-11)


def test_features_do_not_know_the_place_and_size_of_the_box():
    x, w = scattered(1, 90, 2)
    np.testing.assert_allclose(made(x, w, 4), made(0.7 * x + 0.2, w, 4), atol=1e-11)


def test_features_change_little_with_the_rule():
    """Two rules that are exact to round-off: the same features, also where G has equal roots."""
    x, _ = disk(6)
    np.testing.assert_allclose(made(*disk(14), 10, at=x), made(*disk(17), 10, at=x), atol=1e-11)


def test_dependent_features_become_zero():
    """On a line y = x of the plane only the powers of one variable are left."""
    s = RNG.uniform(-1, 1, (1, 40, 1))
    z, w = np.concatenate([s, s], axis=2), np.full((1, 40), 0.5)
    features = made(z, w, 3)[0]
    gram = features.T @ (0.5 * features)
    sizes = np.diagonal(gram)
    assert np.sum(sizes > 0.5) == 4
    np.testing.assert_allclose(gram, np.diag(np.round(sizes)), atol=1e-11)
    assert not polynomials.orthonormal(z, w, 3)[0][:, sizes < 0.5].any()
