"""Differential operators on a pointwise field u: ℝᵈ → ℝ or ℝᵐ, by forward-mode differentiation.

Each takes a field and returns a function of a point, so that physics reads like its formula:
`kappa * laplacian(u)(x)`. A field with m components gives m derivatives; nothing else changes.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.types import Field, Point, Value


def gradient(u: Field) -> Callable[[Point], Value]:
    """∇u: the derivatives ∂ᵢu, shape (d,) for a scalar field, (m, d) for a system."""
    return lambda x: jax.jacfwd(u)(_floating(x))


def directional_derivative(u: Field) -> Callable[[Point, Point], Value]:
    """s·∇u: the derivative along a direction s, which need not have length one."""

    def along(x: Point, direction: Point) -> Value:
        x = _floating(x)
        return jax.jvp(u, (x,), (jnp.asarray(direction, x.dtype),))[1]

    return along


def normal_derivative(u: Field) -> Callable[[Point, Point], Value]:
    """∂ₙu = n·∇u, n being the outward unit normal: positive where u grows outwards."""
    return directional_derivative(u)


def divergence(u: Field) -> Callable[[Point], Value]:
    """∇·u = Σᵢ ∂ᵢuᵢ of a vector field u: ℝᵈ → ℝᵈ."""

    def at(x: Point) -> Value:
        jacobian = jnp.asarray(gradient(u)(x))
        if jacobian.ndim != 2 or jacobian.shape[0] != jacobian.shape[1]:
            raise UsageError(
                f"The divergence needs a vector field with as many components as dimensions, but "
                f"the field has values of shape {jacobian.shape[:-1]} in dimension "
                f"{jacobian.shape[-1]}; take the gradient or the Laplacian instead."
            )
        return jnp.trace(jacobian)

    return at


def laplacian(u: Field) -> Callable[[Point], Value]:
    """∇²u = Σᵢ ∂ᵢ∂ᵢu, component by component.

    Two nested forward derivatives per axis: unlike a Hessian, no mixed derivative is ever formed.
    """

    def at(x: Point) -> Value:
        x = _floating(x)

        def second_derivative(axis: Float[Array, " d"]) -> Value:
            def slope(y: Point) -> Value:
                return jax.jvp(u, (y,), (axis,))[1]

            return jax.jvp(slope, (x,), (axis,))[1]

        return jnp.sum(jax.vmap(second_derivative)(jnp.eye(x.size, dtype=x.dtype)), axis=0)

    return at


def _floating(x: Point) -> Float[Array, " d"]:
    """The point as a floating-point array, so that integer coordinates can be differentiated."""
    return jnp.asarray(x, dtype=jnp.result_type(x, float))
