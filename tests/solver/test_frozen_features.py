"""Narrow initial values: features and points are graded for them, and the first steps short."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.networks.adapt import axes_of_field
from tengbc.solver.strategies.frozen_features import initial_pace, resolving_features

MIDDLE = (0.2, 0.1)
KAPPA = 0.05


def peak(sharpness, domain=None):
    """The heat kernel: exp(−a|x − c|²) spreading freely, its own values at the boundary."""
    domain = domain or tb.Disk()

    def exact(x, t):
        grown = 1 / sharpness + 4 * KAPPA * t
        distance = jnp.sum((x - jnp.array(MIDDLE)) ** 2)
        return jnp.exp(-distance / grown) / (sharpness * grown)

    conditions = dict.fromkeys(domain.segments, tb.Dirichlet(exact))
    return tb.Problem(
        domain, tb.Heat(KAPPA), conditions, lambda x: exact(x, 0.0), exact=exact, t_end=1.0
    )


def axes_for(problem):
    return axes_of_field(problem.domain, problem.initial_function)


def test_coordinates_are_dense_where_the_peak_is():
    axes, wave_density = axes_for(peak(1000.0))
    here, there = axes.density(np.array([MIDDLE, (-0.6, -0.6)]))
    assert here > 200 * there
    np.testing.assert_allclose(*wave_density, rtol=0.05)


def test_a_front_wants_waves_along_one_axis_only():
    domain = tb.Rectangle((0.0, 0.0), (3.0, 1.0))
    free = dict.fromkeys(domain.segments, tb.Neumann(0.0))
    front = tb.Problem(domain, tb.Heat(1.0), free, lambda x: jnp.tanh((x[0] - 1.5) / 0.02))
    along, across = axes_for(front)[1]
    assert along > 5 * across


def test_the_pace_is_that_of_the_heat_kernel():
    """κ∇²u₀ = 4aκ(a r² − 1)u₀, whose square integral is (4aκ)²/2 times that of u₀."""
    problem = peak(100.0)
    points = problem.domain.interior(200_000)
    assert initial_pace(problem, points) == pytest.approx(np.sqrt(2) / (4 * 100 * KAPPA), rel=1e-3)


def test_smooth_initial_values_keep_random_features():
    count, family = resolving_features(peak(2.0), 180, 1666, 1e-6, 0)
    assert family.axes is None and count <= 500


def test_a_narrow_peak_is_solved_and_its_error_known():
    """A twentieth of the disk wide: 800 random features leave a quarter of it."""
    problem = peak(200.0)
    solution = tb.solve(problem, rtol=1e-3, strategy="frozen-features")
    x = problem.domain.interior(5000, seed=3).x
    for n in (0, 1, len(solution.times) // 2, -1):
        t = float(solution.times[n])
        truth = problem.exact(x, t)
        error = np.linalg.norm(solution(x, t) - truth) / np.linalg.norm(truth)
        assert error <= 1e-3
        assert error / 10 <= solution.error_estimate[n] <= 10 * error
    steps = np.diff(solution.times)
    assert steps[0] < steps[-1] / 4


def test_many_dimensions_keep_random_features():
    domain = tb.Box((0.0,) * 6, (1.0,) * 6)
    walls = dict.fromkeys(domain.segments, tb.Neumann(0.0))
    narrow = tb.Problem(domain, tb.Heat(1.0), walls, lambda x: jnp.exp(-50 * jnp.sum(x**2)))
    count, family = resolving_features(narrow, 200, 600, 1e-6, 0)
    assert family.axes is None and count <= 600
