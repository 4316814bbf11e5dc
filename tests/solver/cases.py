"""A small linear space: heat on an interval, in sines that meet the conditions by themselves."""

import jax.numpy as jnp
import numpy as np

from tengbc.conditions import Dirichlet
from tengbc.equations import Heat
from tengbc.geometry import Interval
from tengbc.networks import Basis
from tengbc.networks.network import with_head
from tengbc.problem import Problem
from tengbc.projection import Collocation, SeparableProjection
from tengbc.solver.sampling import boundary_points
from tengbc.spaces import NetworkSpace

MODES = np.arange(1, 7)


def sines(x):
    return jnp.sin(jnp.pi * MODES * x[0])


def heat(equation=None, **changes) -> Problem:
    """∂ₜu = ∂ₓₓu on (0, 1), u = 0 at both ends, u(x, 0) = sin πx unless changed."""
    arguments = {
        "domain": Interval(0.0, 1.0),
        "equation": equation or Heat(1.0),
        "conditions": {"left": Dirichlet(0.0), "right": Dirichlet(0.0)},
        "initial": lambda x: jnp.sin(jnp.pi * x[0]),
    }
    return Problem(**(arguments | changes))


def linear_space(problem: Problem) -> NetworkSpace:
    domain = problem.domain
    rows = Collocation(
        problem, with_head(Basis(sines, 1), 0), domain.interior(40), boundary_points(domain, 2)
    )
    return NetworkSpace(rows, SeparableProjection())
