"""Four problems that nothing was tuned for: no options but the tolerance, 1e-6."""

import jax.numpy as jnp
import pytest

import tengbc as tb
from tests.solver.manufactured_problems import manufactured, worst_error


def advection_diffusion_on_an_l():
    corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)]
    domain = tb.Polygon(corners)
    return manufactured(
        domain,
        tb.Heat(0.05) + tb.Transport([0.7, -0.4]),
        {segment: (1.0, 0.0) for segment in domain.segments},
        lambda x, t: 1 + jnp.sin(2 * x[0] - t) * jnp.cos(1.5 * x[1] + 0.5 * t),
    )


def robin_on_an_annulus():
    return manufactured(
        tb.Annulus(0.4, 1.0),
        tb.Heat(0.1),
        {
            "inner": (lambda x: 2 + x[0], lambda x: 1 + 0.3 * x[1]),
            "outer": (lambda x: 1 + x[1] ** 2, lambda x: 0.5 + 0.2 * x[0]),
        },
        lambda x, t: jnp.exp(-t) * jnp.cos(2 * x[0] + x[1]) + 0.5 * jnp.sin(x[0] * x[1] + t),
    )


def moving_source_on_a_rectangle():
    def hill(x, t):
        return jnp.exp(-4 * ((x[0] - 0.5 - t) ** 2 + (x[1] - 0.5 - 0.2 * jnp.sin(3 * t)) ** 2))

    return manufactured(
        tb.Rectangle((0.0, 0.0), (2.0, 1.0)),
        tb.Heat(0.1),
        {"left": (1.0, 0.0), "right": (0.0, 1.0), "bottom": (1.0, 0.5), "top": (0.0, 1.0)},
        hill,
    )


def neumann_in_a_ball():
    def exact(x, t):
        return jnp.exp(-0.5 * t) * jnp.cos(1.3 * x[0] - 0.4 * x[1]) + 0.3 * jnp.sin(x[2] + x[0] + t)

    return manufactured(tb.Ball(1.0), tb.Heat(0.1), {"sphere": (0.0, 1.0)}, exact)


PROBLEMS = [
    advection_diffusion_on_an_l,
    robin_on_an_annulus,
    moving_source_on_a_rectangle,
    neumann_in_a_ball,
]


@pytest.mark.parametrize("make", PROBLEMS, ids=lambda make: make.__name__)
def test_to_the_tolerance_without_options(make):
    solution = tb.solve(make(), t_end=1.0, rtol=1e-6)
    assert solution.result
    assert worst_error(solution) <= 3e-6
    assert solution.error_estimate.max() <= 1e-6
