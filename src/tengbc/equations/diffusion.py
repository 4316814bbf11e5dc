"""Diffusion in divergence form."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tengbc.coefficient import (
    Coefficient,
    CoefficientLike,
    by_region,
    coefficient,
    positional_arguments,
    real,
)
from tengbc.equations.base import AbstractEquation, LinearTerms
from tengbc.errors import ProblemError, UsageError
from tengbc.fields import gradient
from tengbc.types import Field, Point, Time, Value


class StateCoefficient(eqx.Module):
    """κ(u), κ(u, x) or κ(u, x, t)."""

    function: Callable[..., Any]
    arguments: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, u: Value, x: Point, t: Time) -> Value:
        return real(self.function(*(u, x, t)[: len(self.arguments)]))

    def text(self, symbol: str) -> str:
        """How a formula shows it."""
        return f"{symbol}({', '.join(self.arguments)})"


class Diffusion(AbstractEquation):
    """∂ₜu = ∇·(κ∇u).

    κ is a number, a symmetric matrix, a function of x or (x, t), or a function of u (of u and x, of
    u, x and t), whose first argument is then called u; for a system also one number per component.
    Where the domain has regions, one of these for each: `Diffusion({"core": 10.0, "rest": 1.0})`.
    """

    kappa: Coefficient | StateCoefficient

    def __init__(self, kappa: CoefficientLike):
        self.kappa = _conductivity(kappa, "kappa")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        def flux(y: Point) -> Value:
            slope, kappa = gradient(u)(y), self._kappa(u, y, t)
            if kappa.ndim == 2:
                if kappa.shape != (x.size, x.size):
                    raise ProblemError(
                        f"kappa has shape {kappa.shape}, but in dimension {x.size} a matrix has "
                        f"shape {(x.size, x.size)}; give one of that shape, or a number."
                    )
                return slope @ kappa.T
            return (kappa[:, None] if kappa.ndim else kappa) * slope

        return jnp.trace(jax.jacfwd(flux)(jnp.asarray(x, float)), axis1=-2, axis2=-1)

    def _kappa(self, u: Field, x: Point, t: Time) -> jax.Array:
        if isinstance(self.kappa, StateCoefficient):
            return jnp.asarray(self.kappa(u(x), x, t))
        return self.kappa(x, t)

    @property
    def uniform(self) -> bool:
        return isinstance(self.kappa, Coefficient) and self.kappa.constant

    @property
    def linear_terms(self) -> LinearTerms | None:
        if isinstance(self.kappa, StateCoefficient):
            return None
        return LinearTerms(conductivities=(self.kappa,))

    @property
    def conductivity(self) -> Callable[[Value, Point, Time], Value] | None:
        return self.kappa if isinstance(self.kappa, StateCoefficient) else None

    @property
    def formula(self) -> str:
        return f"∇·({self.kappa.text('κ')}∇u)"


def _conductivity(value: Any, name: str) -> Coefficient | StateCoefficient:
    if isinstance(value, Coefficient | StateCoefficient):
        return value
    if isinstance(value, Mapping):
        return by_region(value, name, _conductivity)
    if callable(value):
        given = positional_arguments(value, name)
        if given[:1] == ("u",):
            if given != ("u", "x", "t")[: len(given)]:
                raise UsageError(
                    f"{name} takes ({', '.join(given)}), but a function of u takes (u), (u, x) or "
                    f"(u, x, t); write it as lambda u, x, t: …"
                )
            return StateCoefficient(value, given)
    found = coefficient(value, name)
    if found.constant and not isinstance(found.value, Tracer):
        matrix = np.asarray(found.value)
        if matrix.ndim == 2 and not np.array_equal(matrix, matrix.T):
            raise UsageError(f"{name} is a matrix that is not symmetric; give (A + Aᵀ)/2.")
        lowest = np.linalg.eigvalsh(matrix).min() if matrix.ndim == 2 else matrix.min()
        if lowest < 0:
            raise UsageError(
                f"{name} is {value!r}, but diffusion with a negative number is ill-posed: what is "
                f"large would grow without bound; give {name} ≥ 0."
            )
    return found
