"""Smooth activation functions by name; all have the derivatives a second-order equation needs."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from tengbc.errors import UsageError

_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "sin": jnp.sin,
    "gaussian": lambda z: jnp.exp(-(z**2)),
    "softplus": jax.nn.softplus,
    "swish": jax.nn.swish,
}


def activation_names() -> tuple[str, ...]:
    """The names `activation` accepts."""
    return tuple(_ACTIVATIONS)


def activation(name: str) -> Callable[[Array], Array]:
    """The activation function of that name."""
    if name not in _ACTIVATIONS:
        raise UsageError(
            f"There is no activation {name!r}; choose one of {', '.join(_ACTIVATIONS)}."
        )
    return _ACTIVATIONS[name]
