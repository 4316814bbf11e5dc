"""Two problems whose rows are also written out by hand: every kind of condition, and a system."""

import jax
import jax.numpy as jnp
import numpy as np

from tengbc.conditions import Condition, Dirichlet, Neumann, Robin
from tengbc.equations import Equation, Heat
from tengbc.fields import gradient, normal_derivative
from tengbc.geometry import AnnularSector, Rectangle
from tengbc.networks import mlp
from tengbc.problem import Problem
from tengbc.projection import Collocation
from tengbc.solver.sampling import boundary_points
from tests.networks.cases import some_theta


def radiation(u, x, normal, t):
    return normal_derivative(u)(x, normal) + u(x) ** 4 - t * x[0]


SCALAR = Problem(
    domain=AnnularSector(0.5, 1.0, 0.0, 1.5),
    equation=Heat(0.3),
    conditions={
        "inner": Dirichlet(lambda x, t: x[0] * t),
        "outer": Robin(a=lambda x: 1 + x[0] ** 2, b=lambda x, t: 0.4 + t * x[1], v=1.5),
        "start": Neumann(lambda x: x[0]),
        "end": Condition(radiation),
    },
    initial=lambda x: jnp.sin(x[0]) * x[1],
)


def slope(u, x, normal):
    return jax.jacrev(u)(x) @ normal


SCALAR_ROWS = {
    "inner": lambda u, x, n, t: u(x) - x[0] * t,
    "outer": lambda u, x, n, t: (1 + x[0] ** 2) * u(x) + (0.4 + t * x[1]) * slope(u, x, n) - 1.5,
    "start": lambda u, x, n, t: slope(u, x, n) - x[0],
    "end": lambda u, x, n, t: slope(u, x, n) + u(x) ** 4 - t * x[0],
}
"""The same four conditions, written out with reverse-mode gradients."""


def transported(u, x, t):
    p, vx, vy = u(x)
    du = gradient(u)(x)
    return jnp.stack([-du[1, 0] - du[2, 1], -du[0, 0] + t * vy, -du[0, 1] * p + vx])


SYSTEM = Problem(
    domain=Rectangle((0.0, 0.0), (1.0, 2.0)),
    equation=Equation(transported),
    conditions={
        "left": Dirichlet([1.0, 2.0, 3.0]),
        "right": Robin(a=[[1.0, 0.0, 2.0]], b=0.0, v=lambda x, t: t * x[1:2]),
        "bottom": Robin(a=[1.0, 2.0, 0.0], b=[0.0, 1.0, 3.0], v=0.5),
        "top": Condition(lambda u, x, normal, t: jnp.stack([u(x)[0] * u(x)[1], u(x)[2] ** 3 - t])),
    },
    initial=lambda x: jnp.stack([x[0], x[1], x[0] * x[1]]),
)


SYSTEM_ROWS = {
    "left": lambda u, x, n, t: u(x) - jnp.array([1.0, 2.0, 3.0]),
    "right": lambda u, x, n, t: u(x)[0:1] + 2 * u(x)[2:3] - t * x[1:2],
    "bottom": lambda u, x, n, t: (
        jnp.array([1.0, 2.0, 0.0]) * u(x) + jnp.array([0.0, 1.0, 3.0]) * slope(u, x, n) - 0.5
    ),
    "top": lambda u, x, n, t: jnp.stack([u(x)[0] * u(x)[1], u(x)[2] ** 3 - t]),
}


def collocation(problem, widths=(6, 5), interior=40, boundary=90):
    network = mlp(problem.domain, problem.components, widths=widths)
    points = problem.domain.interior(interior)
    return Collocation(problem, network, points, boundary_points(problem.domain, boundary))


def start(rows: Collocation, seed: int = 3) -> np.ndarray:
    return some_theta(rows.parameters, seed)
