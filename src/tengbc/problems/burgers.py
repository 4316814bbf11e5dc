"""The viscous Burgers equation on a periodic square, with stored reference values."""

import math

import jax.numpy as jnp

from tengbc.equations import Burgers
from tengbc.geometry import PeriodicBox
from tengbc.problem import Problem
from tengbc.problems.burgers_data import load
from tengbc.types import Point, Value

NU = 1e-3


def initial(x: Point) -> Value:
    """u(x, 0) = 0.04 cosh(3 sin x₁) sinh(sin x₂), the paper's four exponentials gathered."""
    return 0.04 * jnp.cosh(3 * jnp.sin(x[0])) * jnp.sinh(jnp.sin(x[1]))


def build() -> Problem:
    """∂ₜu = −u(∂₁u + ∂₂u) + 10⁻³ ∇²u, 2π-periodic along both axes."""
    return Problem(
        domain=PeriodicBox(lower=(0.0, 0.0), upper=(2 * math.pi, 2 * math.pi)),
        equation=Burgers(nu=NU),
        conditions={},
        initial=initial,
        name="burgers",
        t_end=4.0,
        reference=load(),
        rtol=1e-5,
    )
