"""Signals times activations are the Jacobian: every network against `jacfwd`, to 1e-12."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.networks import Parameters
from tests.networks.cases import NETWORKS, dim, some_theta


@pytest.mark.parametrize("name", [name for name in NETWORKS if "graded" not in name])
def test_products_are_the_jacobian(name):
    network = NETWORKS[name]
    parameters = Parameters(network)
    theta = some_theta(parameters)
    points = np.random.default_rng(5).uniform(-1, 1, (4, dim(name)))

    @jax.jit
    def at_points(theta, points):
        def value(theta, x):
            return jnp.atleast_1d(parameters.network(theta)(x))

        def trace(theta, x):
            return parameters.network(theta).trace(x)

        return [jax.vmap(f, (None, 0))(theta, points) for f in (value, jax.jacfwd(value), trace)]

    direct, expected, (values, activations, signals) = jax.tree.map(
        np.asarray, at_points(theta, points)
    )
    signal_of, activation_of = network.layout()
    assert len(signal_of) == len(activation_of) == len(parameters)
    found = signals[:, :, signal_of] * activations[:, None, activation_of]
    assert expected.shape == (4, max(1, network.head.bias.size), len(parameters))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(values, direct, rtol=0, atol=1e-12 * np.abs(direct).max())
    # The head is all that u is linear in: u = (∂u/∂head)·head.
    head = parameters.head
    assert theta[head].size == network.head.bias.size * (network.body.width + 1)
    linear = found[:, :, head] @ theta[head]
    np.testing.assert_allclose(linear, direct, rtol=0, atol=1e-12 * np.abs(direct).max())


@pytest.mark.parametrize("name", [name for name in NETWORKS if "graded" not in name])
def test_no_more_is_formed_than_the_factors_need(name):
    """Each signal and each activation but the unused ones is named by some parameter."""
    network = NETWORKS[name]
    signal_of, activation_of = network.layout()
    _, activations, signals = jax.eval_shape(network.trace, np.zeros(dim(name)))
    assert set(signal_of) == set(range(signals.shape[1]))
    assert set(activation_of) == set(range(activations.shape[0]))
