"""Hidden layers a ↦ σ(Wa + b), any number and widths, behind an optional coordinate map."""

import itertools
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.networks.body import AbstractProductBody
from tengbc.networks.maps import AbstractMap, AbstractProductMap, PeriodicEmbedding
from tengbc.types import Point

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "sin": jnp.sin,
    "gaussian": lambda z: jnp.exp(-(z**2)),
    "softplus": jax.nn.softplus,
    "swish": jax.nn.swish,
}


def activation(name: str) -> Callable[[Array], Array]:
    """The activation function of that name."""
    if name not in ACTIVATIONS:
        raise UsageError(
            f"There is no activation {name!r}; choose one of {', '.join(ACTIVATIONS)}."
        )
    return ACTIVATIONS[name]


class Dense(eqx.Module):
    """One affine map z = Wa + b."""

    weight: Float[Array | np.ndarray, "out in"]
    bias: Float[Array | np.ndarray, " out"]

    def __call__(self, a: Float[Array, " in"]) -> Float[Array, " out"]:
        return jnp.asarray(self.weight @ a + self.bias)


class DenseLayers(AbstractProductBody):
    """φ(x) = σ(W_k … σ(W₁ e(x) + b₁) … + b_k), e a coordinate map, or None: x itself."""

    embedding: AbstractMap | None
    layers: tuple[Dense, ...]
    activation: str = eqx.field(static=True, default="tanh")

    def __call__(self, x: Point) -> Float[Array, " n"]:
        sigma = activation(self.activation)
        a = jnp.asarray(x) if self.embedding is None else self.embedding(x)
        for layer in self.layers:
            a = sigma(layer(a))
        return a

    @property
    def width(self) -> int:
        return self.layers[-1].bias.size

    @property
    def _trained_map(self) -> AbstractProductMap | None:
        """The map, which must be one that least squares can change."""
        assert self.embedding is None or isinstance(self.embedding, AbstractProductMap)
        return self.embedding

    @property
    def signal_count(self) -> int:
        embedded = 0 if self._trained_map is None else self._trained_map.signal_count
        return embedded + sum(layer.bias.size for layer in self.layers)

    def trace(self, x: Point, taps: Float[Array, " s"]):
        sigma = activation(self.activation)
        place, a = 0, jnp.asarray(x)
        activations: list[Array] = []
        if self._trained_map is not None:
            place = self._trained_map.signal_count
            a, activations = self._trained_map.trace(x, taps[:place])
        for layer in self.layers:
            activations.append(a)
            a = sigma(layer(a) + taps[place : place + layer.bias.size])
            place += layer.bias.size
        return a, activations

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        signals, activations, place, start = [], [], 0, 1
        if self._trained_map is not None:
            signal, product = self._trained_map.layout()
            signals.append(signal)
            activations.append(product)
            place, start = self._trained_map.signal_count, 1 + self._trained_map.activation_count
        for layer in self.layers:
            rows, columns = np.indices(layer.weight.shape)
            signals += [place + rows.ravel(), place + np.arange(layer.bias.size)]
            activations += [start + columns.ravel(), np.zeros(layer.bias.size, dtype=int)]
            place, start = place + layer.bias.size, start + layer.weight.shape[1]
        return np.concatenate(signals), np.concatenate(activations)


def dense_layers(
    inputs: int,
    widths: Sequence[int],
    rng: np.random.Generator,
    *,
    embedding: PeriodicEmbedding | None = None,
    activation: str = "tanh",
) -> DenseLayers:
    """Layers with normal weights of variance 1/inputs, so that activations keep their size."""
    sizes = [inputs if embedding is None else embedding.width, *widths]
    layers = tuple(
        Dense(rng.normal(size=(after, before)) / np.sqrt(before), rng.normal(size=after) * 0.3)
        for before, after in itertools.pairwise(sizes)
    )
    return DenseLayers(embedding, layers, activation)
