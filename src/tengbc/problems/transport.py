"""Transport on the unit disk by a flow that turns and leaves through the whole circle."""

import jax.numpy as jnp

from tengbc.conditions import Dirichlet
from tengbc.equations import Transport
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.problems import heat_kernels
from tengbc.types import Point, Time, Value

BETA = 0.2


def velocity(x: Point) -> Value:
    """v = (βx₁ − x₂, βx₂ + x₁): rotation at unit speed, and outward growth at rate β."""
    return jnp.stack([BETA * x[0] - x[1], BETA * x[1] + x[0]])


def solution(x: Point, t: Time) -> Value:
    """u₀ at the point the flow came from: turned back by t, shrunk by exp(−βt)."""
    cosine, sine, shrink = jnp.cos(t), jnp.sin(t), jnp.exp(-BETA * t)
    origin = shrink * jnp.stack([cosine * x[0] + sine * x[1], cosine * x[1] - sine * x[0]])
    return heat_kernels.solution(origin, 0.0)


def build() -> Problem:
    """∂ₜu + v·∇u = 0 with the exact values on the circle.

    There v·n = β > 0, so all of it is outflow and the values are redundant but consistent.
    """
    return Problem(
        domain=Disk(radius=1.0),
        equation=Transport(velocity),
        conditions={"circle": Dirichlet(solution)},
        initial=lambda x: heat_kernels.solution(x, 0.0),
        exact=solution,
        name="transport",
        t_end=1.0,
        rtol=1e-10,
    )
