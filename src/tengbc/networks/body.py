"""The body of a network: x ↦ features φ(x), how to evaluate it, what its Jacobian is made of."""

import abc
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.types import Point

LEAST_POINTS = 256
"""Points are padded to a power of two, this one at least: so only few sizes are compiled."""
MANY_HEADS = 8
"""For more heads than this the features are worth making once, for LAPACK to multiply."""


class AbstractBody(eqx.Module):
    """A map x ↦ φ(x) ∈ ℝⁿ.

    `interpolated` says what of two networks is smooth in time, and is interpolated between them:
    their values, or their parameters.
    """

    interpolated: ClassVar[Literal["values", "parameters"]] = "values"

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """The number of features n."""

    @abc.abstractmethod
    def __call__(self, x: Point) -> Float[Array, " n"]:
        """The features φ(x)."""

    @property
    def words(self) -> str:
        """What the features are, for a report; empty where there is nothing to tell."""
        return ""

    @property
    def boxes(self) -> Float[np.ndarray, "c 2 d"] | None:
        """Lower corners and sizes of the boxes that the features live on, if they do."""
        return None

    def features(self, x: Float[np.ndarray, "k d"]) -> Float[np.ndarray, "k n"]:
        """φ at many points."""
        with jax.enable_x64(True):
            return np.asarray(_features(self, jnp.asarray(_padded(x))))[: len(x)]

    def combine(
        self, weight: Float[np.ndarray, "m n"], x: Float[np.ndarray, "k d"], slopes: bool = False
    ) -> Float[np.ndarray, "k m ..."]:
        """Σ weight·φ at many points, or its gradient, (k, m, d)."""
        if not slopes and len(weight) > MANY_HEADS:
            return self.features(x) @ weight.T
        evaluate = _slopes if slopes else _sums
        with jax.enable_x64(True):
            return np.asarray(evaluate(self, jnp.asarray(weight), jnp.asarray(_padded(x))))[
                : len(x)
            ]


class AbstractProductBody(AbstractBody):
    """A body whose Jacobian is made of products.

    For a layer z = Wa + b the derivative ∂u/∂Wᵢⱼ is (∂u/∂zᵢ)·aⱼ: a *signal* that travels back from
    the output, times an *activation*. So a body names, for each of its parameters, one signal and
    one activation, and any choice of Jacobian columns costs one product per entry.
    """

    @property
    @abc.abstractmethod
    def signal_count(self) -> int:
        """How many places (`taps`) of the body a signal is taken from."""

    @abc.abstractmethod
    def trace(
        self, x: Point, taps: Float[Array, " s"]
    ) -> tuple[Float[Array, " n"], list[Float[Array, " _"]]]:
        """Features, and the activations in order; `taps` (zeros) are added at the tapped places."""

    @abc.abstractmethod
    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """For each parameter, in flattening order: the index of its signal and its activation.

        Activation 0 is the constant one; those of `trace` follow from index 1 on.
        """


def _padded(x: Float[np.ndarray, "k d"]) -> Float[np.ndarray, "p d"]:
    size = max(LEAST_POINTS, 1 << max(len(x) - 1, 0).bit_length())
    return np.concatenate([x, np.repeat(x[-1:], size - len(x), axis=0)]) if len(x) else x


@eqx.filter_jit
def _features(body: AbstractBody, x: Array) -> Array:
    return jax.vmap(body)(x)


@eqx.filter_jit
def _sums(body: AbstractBody, weight: Array, x: Array) -> Array:
    return jax.vmap(lambda y: weight @ body(y))(x)


@eqx.filter_jit
def _slopes(body: AbstractBody, weight: Array, x: Array) -> Array:
    return jax.vmap(jax.jacfwd(lambda y: weight @ body(y)))(x)
