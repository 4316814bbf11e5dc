"""Linear spaces that hold a solution at all times, so that all error is in time."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

import tengbc as tb
from tengbc.networks.network import with_head
from tengbc.spaces import State
from tengbc.spaces.linear import LinearSpace
from tests.orders.manufactured import CASES, Basis, polynomials


@cache
def polynomial_space(name: str) -> LinearSpace:
    """A manufactured problem in a space of polynomials, compiled once per process."""
    case = CASES[name]
    dim, order = case.domain.dim, 2 * case.degree
    boundary = [
        case.domain.boundary(segment, rule="gauss", order=order) for segment in case.domain.segments
    ]
    interior = case.domain.interior(rule="gauss", order=order)
    network = with_head(Basis(polynomials(dim, case.degree), dim), 0)
    return LinearSpace(case.problem(), network, interior, boundary, many_solves=True)


def marched_error(space: LinearSpace, scheme, steps: int, t_end: float) -> float:
    """Relative L² error at t_end after so many equal steps from the exact initial values."""
    problem, points = space.collocation.problem, space.collocation.interior
    start = space.collocation.parameters.start
    state = State(space.project(start, problem.initial(points.x)[:, None], 0.0).theta)
    for n in range(steps):
        state, _ = scheme.step(space, state, t_end * n / steps, t_end / steps, ())
    exact = problem.exact(points.x, t_end)
    difference = space.values(state.theta)[:, 0] - exact
    return float(np.sqrt((points.w @ difference**2) / (points.w @ exact**2)))


def still(kind: str, kappa, reaction: float = 0.0):
    """Σ cos(ωₖt + k)·φₖ with eigenfunctions φₖ that all meet the same condition on (−1, 1)."""
    if kind == "dirichlet":
        numbers, condition = [k * np.pi / 2 for k in (1, 3)], tb.Dirichlet(0.0)
    elif kind == "neumann":
        numbers, condition = [k * np.pi for k in (1, 2)], tb.Neumann(0.0)
    else:
        root = lambda low, high: brentq(lambda k: np.cos(k) - 0.5 * k * np.sin(k), low, high)
        numbers, condition = [root(0.1, np.pi / 2), root(np.pi, 3 * np.pi / 2)], tb.Robin(1, 0.5, 0)
    waves = jnp.array(numbers)
    # One function more that meets no condition: rows of zeros would have no size to go by.
    functions = lambda x: jnp.append(jnp.cos(waves * x[0]), jnp.sin(x[0]))

    def exact(x, t):
        return jnp.cos(jnp.array([2.0, 3.0]) * t + jnp.array([0.0, 1.0])) @ functions(x)[:2]

    diffusion = lambda u, x, t: kappa(t) * tb.laplacian(u)(x)
    semilinear = lambda u, x, t: diffusion(u, x, t) - reaction * jnp.sin(u(x)) * u(x)
    equation = tb.Equation(semilinear if reaction else diffusion)

    def source(x, t):
        rate = jax.jvp(lambda s: exact(x, s), (t,), (1.0,))[1]
        return rate - equation.rhs(lambda y: exact(y, t), x, t)

    domain = tb.Interval(-1.0, 1.0)
    problem = tb.Problem(
        domain,
        equation + tb.Source(source),
        {"left": condition, "right": condition},
        lambda x: exact(x, 0.0),
        exact,
    )
    boundary = [domain.boundary(segment, 1) for segment in domain.segments]
    network = with_head(Basis(functions, 1), 0)
    return LinearSpace(problem, network, domain.interior(rule="gauss", order=40), boundary)
