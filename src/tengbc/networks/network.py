"""A network: a body that makes features, a head that combines them linearly, and its vector θ."""

import math
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.defaults import PAPER
from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain
from tengbc.networks.body import AbstractBody, AbstractProductBody
from tengbc.networks.layers import dense_layers
from tengbc.networks.maps import periodic_embedding
from tengbc.types import Point, Value


class Head(eqx.Module):
    """The linear output layer u = Hφ + h, one row per component."""

    weight: Float[Array | np.ndarray, "m n"]
    bias: Float[Array | np.ndarray, " m"]


class Network(eqx.Module):
    """u_θ(x) = H·body(x) + h; θ is the body's parameters followed by the head's."""

    body: AbstractBody
    head: Head
    scalar: bool = eqx.field(static=True, default=True)

    def __call__(self, x: Point) -> Value:
        return self._output(self.body(x))

    def _output(self, features: Float[Array, " n"]) -> Value:
        u = self.head.weight @ features + self.head.bias
        return u[0] if self.scalar else u

    def trace(self, x: Point) -> tuple[Float[Array, " m"], Float[Array, " a"], Float[Array, "m s"]]:
        """Value, activations and signals at one point: the factors of every Jacobian entry.

        The signals are the derivatives of each component by each tap, the head's taps (one per
        component) last.
        """
        body = self._product_body

        def tapped(taps):
            features, activations = body.trace(x, taps[: body.signal_count])
            value = self.head.weight @ features + self.head.bias
            value = value + taps[body.signal_count :]
            return value, jnp.concatenate([jnp.ones(1), *activations, features])

        components = self.head.bias.size
        taps = jnp.zeros(body.signal_count + components)
        value, pull, activations = jax.vjp(tapped, taps, has_aux=True)
        signals = jax.vmap(pull)(jnp.eye(components))[0]
        return value, activations, signals

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """For each parameter of θ, the indices of its signal and activation in `trace`."""
        body = self._product_body
        signals, activations = body.layout()
        components, width = self.head.weight.shape
        rows, columns = np.indices((components, width))
        # The features come last in `trace`; their number is known, what precedes them is not.
        before, place = 1 + int(activations.max(initial=0)), body.signal_count
        return (
            np.concatenate([signals, place + rows.ravel(), place + np.arange(components)]),
            np.concatenate([activations, before + columns.ravel(), np.zeros(components, int)]),
        )

    @property
    def _product_body(self) -> AbstractProductBody:
        assert isinstance(self.body, AbstractProductBody), "only such bodies are collocated"
        return self.body

    def evaluate(
        self, x: Float[np.ndarray, "k d"], slopes: bool = False
    ) -> Float[np.ndarray, "k ..."]:
        """u, or with `slopes` ∇u, at many points."""
        values = self.body.combine(np.asarray(self.head.weight), x, slopes)
        if not slopes:
            values = values + np.asarray(self.head.bias)
        return values[:, 0] if self.scalar else values


def mlp(
    domain: Domain,
    components: int = 0,
    *,
    widths: Sequence[int] = PAPER.widths,
    activation: str = "tanh",
    embedding_size: int = 20,
    seed: int = 0,
) -> Network:
    """A fully connected network for a domain; on a periodic box behind a periodic embedding.

    **Arguments:** `components`, 0 for a scalar field or m for a system; `widths`, the hidden
    layers; `embedding_size`, waves per coordinate on a periodic box.
    """
    if not widths or any(width < 1 for width in widths):
        raise UsageError(f"widths is {tuple(widths)}, but each layer needs at least one neuron.")
    rng = np.random.default_rng([seed, 1])
    lower, upper = domain.bounds
    embedding = periodic_embedding(lower, upper, embedding_size, rng) if domain.periodic else None
    body = dense_layers(domain.dim, widths, rng, embedding=embedding, activation=activation)
    if embedding is None:
        body = place_ridges(body, domain, rng)
    return with_head(body, components)


def place_ridges(body, domain: Domain, rng: np.random.Generator, steepness: float = 1.5):
    """Let each first-layer ridge wᵀx + b = 0 pass through a random point of the domain.

    The weights are ~ N(0, s²) in units of the domain's size: features then neither saturate
    nor miss the domain, wherever it lies and however large it is.
    """
    first = body.layers[0]
    weight = rng.normal(size=first.weight.shape) * steepness / domain.scale
    seed = int(rng.integers(2**31))
    through = domain.interior(len(first.bias), rule="random", seed=seed).x
    bias = -np.sum(weight * through, axis=1)
    return eqx.tree_at(lambda b: (b.layers[0].weight, b.layers[0].bias), body, (weight, bias))


def with_head(body: AbstractBody, components: int) -> Network:
    """The network of a body with a zero head of `components` rows (0: one, scalar)."""
    rows = components or 1
    head = Head(np.zeros((rows, body.width)), np.zeros(rows))
    return Network(body, head, scalar=components == 0)


@runtime_checkable
class Headed(Protocol):
    """Anything with a linear output layer."""

    @property
    def head(self) -> Head: ...


AnyNetwork = TypeVar("AnyNetwork", bound=Headed)


class Parameters(Generic[AnyNetwork]):
    """θ as one float64 vector: what checkpoints hold, least squares change, compiled code takes.

    The way from a network to θ = (body, head) and back. `start` is the network's own θ;
    `network(theta)` works on traced values too.
    """

    def __init__(self, network: AnyNetwork):
        arrays, self._static = eqx.partition(network, eqx.is_inexact_array_like)
        leaves, self._tree = jax.tree.flatten(arrays)
        self._shapes = [np.shape(leaf) for leaf in leaves]
        self.start: Float[np.ndarray, " p"] = np.concatenate(
            [np.zeros(0), *(np.ravel(np.asarray(leaf, dtype=np.float64)) for leaf in leaves)]
        )
        self.head = slice(self.start.size - network.head.weight.size - network.head.bias.size, None)

    def __len__(self) -> int:
        return self.start.size

    def __reduce__(self):
        return Parameters, (self.network(self.start),)

    def network(self, theta: Float[Array | np.ndarray, " p"]) -> AnyNetwork:
        """The network with parameters θ."""
        # A NumPy array is cut by NumPy: JAX would compile that for every number of parameters.
        leaves, first = [], 0
        with jax.enable_x64(True):
            for shape in self._shapes:
                last = first + math.prod(shape)
                leaves.append(jnp.asarray(theta[first:last].reshape(shape)))
                first = last
            return eqx.combine(jax.tree.unflatten(self._tree, leaves), self._static)
