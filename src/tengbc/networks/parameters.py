"""θ as one float64 vector: what checkpoints hold, least squares change and compiled code takes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from tengbc.networks.network import Network


class Parameters:
    """The way from a network to its vector θ = (body, head) and back.

    `start` is the network's own θ; `network(theta)` works on traced values too.
    """

    def __init__(self, network: Network):
        arrays, self._static = eqx.partition(network, eqx.is_inexact_array_like)
        with jax.enable_x64(True):
            flat, self._unravel = ravel_pytree(jax.tree.map(np.float64, arrays))
        self.start: Float[np.ndarray, " p"] = np.asarray(flat)
        self.head = slice(self.start.size - network.head.weight.size - network.head.bias.size, None)

    def __len__(self) -> int:
        return self.start.size

    def network(self, theta: Float[Array | np.ndarray, " p"]) -> Network:
        """The network with parameters θ."""
        return eqx.combine(self._unravel(jnp.asarray(theta)), self._static)
