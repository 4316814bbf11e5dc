"""A network of space and time: u_θ(x, t), tanh layers behind a scaling or a periodic embedding."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from tengbc.geometry.domain import Domain
from tengbc.networks.layers import DenseLayers, dense_layers
from tengbc.networks.maps import PeriodicEmbedding, periodic_embedding
from tengbc.networks.network import Head
from tengbc.types import Point, Time, Value


class SpaceTimeNetwork(eqx.Module):
    """u_θ(x, t) = H·φ(e(x), 2t/T − 1) + h, where e scales the domain to the size of one.

    On a periodic box e is the periodic embedding instead, so that u is periodic by construction.
    """

    embedding: PeriodicEmbedding | None
    layers: DenseLayers
    head: Head
    centre: tuple[float, ...] = eqx.field(static=True)
    radius: float = eqx.field(static=True)
    t_end: float = eqx.field(static=True)
    scalar: bool = eqx.field(static=True)

    def __call__(self, x: Point, t: Time) -> Value:
        if self.embedding is None:
            placed = (jnp.asarray(x) - jnp.asarray(self.centre)) / self.radius
        else:
            placed = self.embedding(x)
        features = self.layers(jnp.append(placed, 2 * t / self.t_end - 1))
        u = self.head.weight @ features + self.head.bias
        return u[0] if self.scalar else u


def space_time_network(
    domain: Domain, t_end: float, components: int, widths: Sequence[int], seed: int
) -> SpaceTimeNetwork:
    """A network for a domain and the times from 0 to `t_end`, with random weights."""
    rng = np.random.default_rng([seed, 2])
    lower, upper = domain.bounds
    embedding = periodic_embedding(lower, upper, 8, rng) if domain.periodic else None
    inputs = domain.dim + 1 if embedding is None else embedding.width + 1
    layers = dense_layers(inputs, widths, rng)
    rows = components or 1
    head = Head(rng.normal(size=(rows, widths[-1])) / np.sqrt(widths[-1]), np.zeros(rows))
    place = tuple(((lower + upper) / 2).tolist()), domain.scale
    return SpaceTimeNetwork(embedding, layers, head, *place, float(t_end), components == 0)


Builder: TypeAlias = Callable[[Float[Array | np.ndarray, " p"]], SpaceTimeNetwork]
"""From θ to the network."""
