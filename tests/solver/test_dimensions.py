"""One code path for one, two and three dimensions, for scalars and systems."""

import jax.numpy as jnp
import pytest

import tengbc as tb
from tests.solver.manufactured_problems import worst_error

PI = jnp.pi


def everywhere(domain, condition):
    return {segment: condition for segment in domain.segments}


def heat_on_an_interval():
    domain = tb.Interval(0.0, 1.0)

    def exact(x, t):
        first, second = (jnp.exp(-0.1 * (k * PI) ** 2 * t) * jnp.sin(k * PI * x[0]) for k in (1, 2))
        return first + second

    return domain, tb.Heat(0.1), tb.Dirichlet(0.0), exact


def heat_on_a_rectangle():
    domain = tb.Rectangle((0.0, 0.0), (1.0, 2.0))

    def exact(x, t):
        decay = jnp.exp(-0.1 * PI**2 * (1 + 1 / 4) * t)
        return decay * jnp.cos(PI * x[0]) * jnp.cos(PI * x[1] / 2)

    return domain, tb.Heat(0.1), tb.Neumann(0.0), exact


def heat_in_a_box():
    domain = tb.Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))

    def exact(x, t):
        return jnp.exp(-0.3 * PI**2 * t) * jnp.prod(jnp.sin(PI * x))

    return domain, tb.Heat(0.1), tb.Dirichlet(0.0), exact


def heat_in_a_ball():
    def exact(x, t):
        """exp(−κπ²t)·sin(πr)/(πr), a power series near the centre."""
        square = jnp.sum(x**2)
        near = square < 1e-4
        r = PI * jnp.sqrt(jnp.where(near, 1.0, square))
        z = PI**2 * square
        series = 1 - z / 6 * (1 - z / 20 * (1 - z / 42))
        return jnp.exp(-0.1 * PI**2 * t) * jnp.where(near, series, jnp.sin(r) / r)

    return tb.Ball(1.0), tb.Heat(0.1), tb.Dirichlet(0.0), exact


def waves_on_a_square():
    """∂ₜp = −∇·v, ∂ₜv = −∇p with p = 0 on the boundary: one condition for three components."""

    def rhs(u, x, t):
        slope = tb.gradient(u)(x)
        return jnp.stack([-slope[1, 0] - slope[2, 1], -slope[0, 0], -slope[0, 1]])

    def exact(x, t):
        omega = jnp.sqrt(2.0) * PI
        (sx, sy), (cx, cy) = jnp.sin(PI * x), jnp.cos(PI * x)
        speed = -PI / omega * jnp.sin(omega * t)
        return jnp.stack([jnp.cos(omega * t) * sx * sy, speed * cx * sy, speed * sx * cy])

    pressure = tb.Condition(lambda u, x, normal, t: u(x)[0])
    return tb.Rectangle((0.0, 0.0), (1.0, 1.0)), tb.Equation(rhs), pressure, exact


CASES = [
    (heat_on_an_interval, None, 1e-6, 1e-6),
    (heat_on_a_rectangle, None, 1e-6, 1e-6),
    (heat_in_a_box, None, 1e-5, 1e-5),
    (heat_in_a_ball, None, 1e-5, 1e-5),
    (waves_on_a_square, None, 1e-5, 1e-5),
    (heat_on_an_interval, "frozen-features", 1e-6, 1e-10),
    (heat_on_a_rectangle, "frozen-features", 1e-6, 1e-7),
]
"""The strategy, the tolerance asked for, and a bound on the true error at all times."""


@pytest.mark.parametrize(
    ("make", "strategy", "rtol", "bound"),
    CASES,
    ids=[f"{case[0].__name__}, {case[1] or 'default'}" for case in CASES],
)
def test_against_the_exact_solution(make, strategy, rtol, bound):
    domain, equation, condition, exact = make()
    problem = tb.Problem(
        domain, equation, everywhere(domain, condition), lambda x: exact(x, 0.0), exact
    )
    solution = tb.solve(problem, t_end=0.5, rtol=rtol, strategy=strategy)
    assert solution.result
    assert worst_error(solution) <= bound


@pytest.mark.parametrize("dim", [1, 2])
def test_a_periodic_box_has_no_boundary_to_watch(dim):
    """A wave that comes round: exp(Σ sin(xᵢ − t))."""

    def exact(x, t):
        return jnp.exp(jnp.sum(jnp.sin(x - t)) / dim)

    box = tb.PeriodicBox([0.0] * dim, [2 * PI] * dim)
    problem = tb.Problem(box, tb.Transport([1.0] * dim), {}, lambda x: exact(x, 0.0), exact)
    solution = tb.solve(problem, 2.0, rtol=1e-4)
    assert worst_error(solution) < 3e-4 and solution.result
    assert not any(name.startswith("boundary") for name in solution.history[-1].measured)
    assert solution.flux(None, 1.0, diffusivity=1.0) == 0.0
