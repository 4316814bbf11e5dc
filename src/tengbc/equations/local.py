"""An equation from values and derivatives at a point: u near x is its own Taylor polynomial.

L(u, x, t) asks for u, ∇u and second derivatives at x alone. So the field may be replaced by
v + g·(z − x) + ½(z − x)ᵀH(z − x), and any equation of second order, a user's too, can be evaluated
from arrays of v, g and H. Few equations ask for all of H: those that know only ∇²u are served with
H = (∇²u/d)·I.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from tengbc.coefficient import Coefficient
from tengbc.errors import UsageError
from tengbc.programs import Vectorised
from tengbc.types import Point, Time, Value

if TYPE_CHECKING:
    from tengbc.equations import AbstractEquation

TRIALS = 3
"""Random points and fields by which an equation is asked what it needs."""


class Derivatives(enum.IntEnum):
    """What an equation asks of the field, beyond its value."""

    NONE = 0
    GRADIENT = 1
    LAPLACIAN = 2
    HESSIAN = 3


def local_rate(equation: AbstractEquation) -> Callable[..., Value]:
    """L(u, x, t) from the value (…m), gradient (…m, d) and Hessian (…m, d, d) at a point x."""

    def rate(value: Value, slope: Value, hessian: Value, x: Point, t: Time) -> Value:
        return equation.rhs(_taylor(value, slope, hessian, x), x, t)

    return rate


def local_rates(equation: AbstractEquation) -> Callable[..., Value]:
    """The same for arrays of n points."""
    return jax.vmap(local_rate(equation), in_axes=(0, 0, 0, 0, None))


def _taylor(value: Value, slope: Value, hessian: Value, x: Point):
    def field(z: Point) -> Value:
        step = z - x
        return value + slope @ step + 0.5 * (hessian @ step) @ step

    return field


def needed_derivatives(equation: AbstractEquation, dim: int, shape: tuple[int, ...]) -> Derivatives:
    """What the equation asks for, found by changing what it might ask for.

    Raises for derivatives of third order and more, which a quadratic polynomial does not have.
    """
    terms = equation.linear_terms
    if terms is not None:
        if any(c.constant and np.ndim(c.value) == 2 for c in terms.conductivities):
            return Derivatives.HESSIAN
        if any(map(_matters, (*terms.diffusivities, *terms.conductivities))):
            return Derivatives.LAPLACIAN
        return Derivatives.GRADIENT if any(map(_matters, terms.velocities)) else Derivatives.NONE
    rng = np.random.default_rng(20)
    rate = _trial_rate(equation)
    needed = Derivatives.NONE
    for _ in range(TRIALS):
        x = rng.uniform(0.1, 1.0, dim)
        value, slope = rng.uniform(0.1, 1, shape), rng.normal(size=(*shape, dim))
        hessian = rng.normal(size=(*shape, dim, dim))
        hessian = hessian + np.swapaxes(hessian, -1, -2)
        found = _needs(partial(rate, x, value), slope, hessian, rng.normal(size=shape))
        if found is None:
            raise UsageError(
                f"The equation ({equation.formula}) has derivatives of third order or more, "
                f"which this solver does not know; write it as a system of second order."
            )
        needed = max(needed, found)
    return needed


def _matters(coefficient: Coefficient) -> bool:
    """Whether what it multiplies may matter."""
    return not coefficient.constant or bool(np.any(coefficient.value))


def _trial_rate(equation: AbstractEquation) -> Callable[..., Array]:
    """L of the polynomial with value, slope, hessian and a cubic and quartic part."""

    def rate(x, value, slope, hessian, cubic):
        taylor = _taylor(value, slope, hessian, x)
        higher = lambda z: cubic * (jnp.sum(z - x) ** 3 + jnp.sum(z - x) ** 4)
        return equation.rhs(lambda z: taylor(z) + higher(z), x, 0.3)

    return Vectorised(rate, None)


def _needs(rate: Callable[..., Array], slope, hessian, cubic) -> Derivatives | None:
    """What `rate` depends on; None if that is more than a second derivative."""

    def differ(*changed: Value) -> bool:
        other = np.asarray(rate(*changed))
        return not np.allclose(full, other, rtol=1e-10, atol=1e-12, equal_nan=True)

    dim, none = hessian.shape[-1], 0 * cubic
    full = np.asarray(rate(slope, hessian, none))
    if differ(slope, hessian, cubic):
        return None
    trace = np.trace(hessian, axis1=-2, axis2=-1)[..., None, None]
    if differ(slope, trace / dim * np.eye(dim), none):
        return Derivatives.HESSIAN
    if differ(slope, 0 * hessian, none):
        return Derivatives.LAPLACIAN
    return Derivatives.GRADIENT if differ(0 * slope, hessian, none) else Derivatives.NONE


@lru_cache(maxsize=32)
def _traced(equation: AbstractEquation) -> Vectorised:
    return Vectorised(local_rate(equation), in_axes=(0, 0, 0, 0, None))


def rates_at(
    equation: AbstractEquation,
    value: Float[np.ndarray, "n ..."],
    slope: Float[np.ndarray, "n ..."],
    hessian: Float[np.ndarray, "n ..."],
    x: Float[np.ndarray, "n d"],
    t: float,
) -> Float[np.ndarray, "n ..."]:
    """L(u, x, t) in float64 from NumPy arrays, traced once per equation."""
    return _traced(equation)(value, slope, hessian, x, float(t))
