"""The body of a network: x ↦ features φ(x), with everything its Jacobian is made of."""

import abc

import equinox as eqx
import numpy as np
from jax import Array
from jaxtyping import Float, Int

from tengbc.types import Point


class AbstractBody(eqx.Module):
    """A map x ↦ φ(x) ∈ ℝⁿ whose Jacobian is made of products.

    For a layer z = Wa + b the derivative ∂u/∂Wᵢⱼ is (∂u/∂zᵢ)·aⱼ: a *signal* that travels back from
    the output, times an *activation*. So a body names, for each of its parameters, one signal and
    one activation, and any choice of Jacobian columns costs one product per entry.
    """

    @property
    @abc.abstractmethod
    def width(self) -> int:
        """The number of features n."""

    @property
    @abc.abstractmethod
    def signal_count(self) -> int:
        """How many places (`taps`) of the body a signal is taken from."""

    @abc.abstractmethod
    def trace(
        self, x: Point, taps: Float[Array, " s"]
    ) -> tuple[Float[Array, " n"], list[Float[Array, " k"]]]:
        """Features, and the activations in order; `taps` (zeros) are added at the tapped places."""

    @abc.abstractmethod
    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """For each parameter, in flattening order: the index of its signal and its activation.

        Activation 0 is the constant one; those of `trace` follow from index 1 on.
        """

    @abc.abstractmethod
    def __call__(self, x: Point) -> Float[Array, " n"]:
        """The features φ(x)."""
