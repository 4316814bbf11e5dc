"""θ as one vector: there and back, the head at its end, float64 whatever JAX is set to."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.geometry import Disk
from tengbc.networks import Parameters, mlp
from tests.networks.cases import NETWORKS, some_theta


@pytest.mark.parametrize("name", ["tanh-uneven", "periodic-system", "basis-system"])
def test_there_and_back(name):
    network = NETWORKS[name]
    parameters = Parameters(network)
    theta = some_theta(parameters)
    again = Parameters(parameters.network(theta))
    assert theta.dtype == again.start.dtype == np.float64
    np.testing.assert_array_equal(again.start, theta)
    before, after = (
        jax.tree.leaves(net) for net in (network, parameters.network(parameters.start))
    )
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_papers_network_has_its_10001_parameters():
    parameters = Parameters(mlp(Disk()))
    assert len(parameters) == 10_001
    assert parameters.start[parameters.head].size == 41


def test_float64_where_jax_is_set_to_float32():
    with jax.enable_x64(False):
        parameters = Parameters(mlp(Disk(), widths=(4, 4)))
        assert parameters.start.dtype == np.float64
        assert jnp.zeros(1).dtype == jnp.float32
    np.testing.assert_array_equal(parameters.start, Parameters(mlp(Disk(), widths=(4, 4))).start)
