"""Networks on a periodic box are periodic, their derivatives too, and can be anything else."""

import jax
import numpy as np
import pytest

from tengbc.fields import gradient, laplacian
from tengbc.geometry import Disk, PeriodicBox
from tengbc.networks import Parameters, mlp
from tests.networks.cases import some_theta

LOWER, UPPER = np.array([-1.0, 2.0]), np.array([2.5, 2.0 + 2 * np.pi])
BOX = PeriodicBox(LOWER, UPPER)


@pytest.fixture(scope="module")
def field():
    parameters = Parameters(mlp(BOX, widths=(12, 12), embedding_size=5))
    return parameters.network(some_theta(parameters))


def test_exactly_periodic(field):
    """u, its gradient and its Laplacian repeat along each axis, at the seam too."""
    of = jax.jit(jax.vmap(lambda x: (field(x), gradient(field)(x), laplacian(field)(x))))
    points = np.random.default_rng(0).uniform(LOWER, UPPER, (30, 2))
    points[0] = LOWER
    here = of(points)
    for period in np.diag(UPPER - LOWER):
        for turns in (1, -2):
            for one, other in zip(of(points + turns * period), here, strict=True):
                assert np.std(other) > 1e-2
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


def test_not_periodic_in_less_than_a_period(field):
    points = np.random.default_rng(0).uniform(LOWER, UPPER, (30, 2))
    half = (UPPER - LOWER) / 2
    of = jax.jit(jax.vmap(field))
    assert np.abs(of(points + half) - of(points)).max() > 0.1


def test_waves_of_the_embedding():
    """e(x) = a·cos(2π(x − o)/ℓ + φ) + c, coordinate by coordinate."""
    embedding = mlp(BOX, widths=(3,), embedding_size=4).body.embedding
    x = np.array([0.3, 5.0])
    angle = 2 * np.pi * (x - LOWER) / (UPPER - LOWER)
    expected = embedding.amplitude * np.cos(angle[:, None] + embedding.phase) + embedding.offset
    assert embedding.width == 8
    np.testing.assert_allclose(embedding(x), expected.ravel(), rtol=1e-14)


def test_only_a_periodic_box_is_embedded():
    assert mlp(Disk(), widths=(3,)).body.embedding is None
