"""The viscous Burgers equation of the paper: one speed along every axis."""

import jax.numpy as jnp

from tengbc.coefficient import Coefficient, CoefficientLike, nonnegative
from tengbc.equations.base import AbstractEquation, join_terms
from tengbc.equations.heat import Heat
from tengbc.fields import directional_derivative, laplacian
from tengbc.types import Field, Point, Time, Value


class Burgers(AbstractEquation):
    """∂ₜu = −u Σᵢ ∂ᵢu + ν ∇²u."""

    nu: Coefficient

    def __init__(self, nu: CoefficientLike):
        self.nu = nonnegative(nu, "nu")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        diagonal = jnp.ones_like(x)
        return -u(x) * directional_derivative(u)(x, diagonal) + self.nu(x, t) * laplacian(u)(x)

    @property
    def formula(self) -> str:
        return join_terms((SelfAdvection().formula, f"{self.nu.text('ν')}·∇²u"))

    @property
    def terms(self) -> tuple[AbstractEquation, ...]:
        return (SelfAdvection(), Heat(self.nu))


class SelfAdvection(AbstractEquation):
    """∂ₜu = −u Σᵢ ∂ᵢu: the inviscid part."""

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return -u(x) * directional_derivative(u)(x, jnp.ones_like(x))

    @property
    def formula(self) -> str:
        return "−u·Σᵢ∂ᵢu"
