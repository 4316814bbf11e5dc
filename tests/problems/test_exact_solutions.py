"""Every exact solution against its own equation, initial values and boundary conditions.

Equations and conditions are those of the library, derivatives are automatic; 1,000 random points,
residuals at most 1e-10.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from tengbc import problems
from tengbc.fields import gradient, laplacian
from tengbc.problems.heat import LAMBDA

NAMES = [name for name in problems.names() if name != "burgers"]
POINTS = 1000
TOLERANCE = 1e-10


@pytest.fixture(scope="module", params=NAMES)
def problem(request):
    return problems.get(request.param)


@pytest.fixture(scope="module")
def times(problem):
    return np.random.default_rng(1).uniform(0.0, problem.t_end, POINTS)


def test_it_solves_the_equation(problem, times):
    exact = problem.exact_function

    def residual(x, t):
        rate = jax.jvp(lambda s: exact(x, s), (t,), (1.0,))[1]
        return rate - problem.equation.rhs(lambda y: exact(y, t), x, t)

    x = problem.domain.interior(n=POINTS, rule="random", seed=2).x
    found = np.asarray(jax.jit(jax.vmap(residual))(x, times))
    assert found.shape == (POINTS,)
    assert np.abs(found).max() <= TOLERANCE


def test_it_starts_from_the_initial_values(problem):
    x = problem.domain.interior(n=POINTS, rule="random", seed=3).x
    assert np.abs(problem.initial(x) - problem.exact(x, 0.0)).max() <= 1e-15


def test_it_meets_every_boundary_condition(problem, times):
    exact = problem.exact_function
    for segment, law in problem.conditions.items():

        def residual(x, normal, t, law=law):
            return law.residual(lambda y: exact(y, t), x, normal, t)

        points = problem.domain.boundary(segment, n=POINTS, rule="random", seed=4)
        found = np.asarray(jax.jit(jax.vmap(residual))(points.x, points.normal, times))
        assert found.shape == (POINTS,)
        assert np.abs(found).max() <= TOLERANCE


def test_it_is_not_small_and_not_steady(problem):
    """A zero or frozen solution would pass every test above."""
    x = problem.domain.interior(n=200, rule="random", seed=5).x
    start, end = problem.exact(x, 0.0), problem.exact(x, problem.t_end)
    assert np.sqrt(np.mean(start**2)) > 0.05
    assert np.linalg.norm(end - start) > 0.1 * np.linalg.norm(start)


def test_it_is_smooth_at_the_origin(problem):
    field = lambda x: problem.exact_function(x, 0.1)
    origin = jnp.zeros(2)
    operators = jax.jit(lambda x: (field(x), gradient(field)(x), laplacian(field)(x)))
    assert all(np.all(np.isfinite(value)) for value in operators(origin))


@pytest.mark.parametrize("name", NAMES)
def test_values_known_by_other_means(name):
    """The paper's formulas in polar coordinates with SciPy's Bessel functions."""
    scipy = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(6)
    r, theta, t = rng.uniform(0, 1, 100), rng.uniform(0, 2 * np.pi, 100), 0.37
    x = np.stack([r * np.cos(theta), r * np.sin(theta)], axis=1)

    def psi(m, k):
        return scipy.jv(m, k * r) * np.cos(m * theta) * np.exp(-0.1 * k**2 * t)

    slope = lambda m, n: scipy.jnp_zeros(m, n)[-1]
    zero = lambda m, n: scipy.jn_zeros(m, n)[-1]

    def neumann():
        modes = sum(4.0 ** (1 - n) * psi(0, slope(0, n)) for n in range(1, 5))
        modes -= sum(2.0 ** (1 - n) * psi(1, slope(1, n)) for n in range(1, 5))
        return (modes + sum(psi(m, slope(m, 1)) for m in (2, 3, 4))) / 4

    def mixed():
        modes = sum((-0.5) ** (n - 1) * psi(m, zero(m, n)) for m in (0, 2) for n in range(1, 5))
        return (modes + psi(4, zero(4, 2))) / 4

    def kernels(x1, x2, t):
        def kernel(centre, tau, factor=lambda a, b, w: 1.0):
            a, b, w = x1 - centre[0], x2 - centre[1], 4 * 0.1 * (t + tau)
            return factor(a, b, w) * np.exp(-(a**2 + b**2) / w) / (np.pi * w)

        def wave(k):
            return np.exp(-0.1 * (k[0] ** 2 + k[1] ** 2) * t) * np.sin(k[0] * x1 + k[1] * x2)

        d1, d2 = (lambda a, b, w: -2 * a / w), (lambda a, b, w: -2 * b / w)
        return (
            0.9 * kernel((0.35, -0.15), 1.5)
            - 0.7 * kernel((-0.25, 0.30), 2.0)
            + 0.5 * kernel((0.05, 0.05), 1.2)
            + 0.2 * kernel((0.10, -0.35), 1.8, d1)
            - 0.24 * kernel((0.10, -0.35), 1.8, d2)
            - 0.16 * kernel((-0.40, -0.05), 1.4, d1)
            + 0.12 * kernel((-0.40, -0.05), 1.4, d2)
            + 0.36 * wave((4, 3))
            - 0.24 * wave((6, 1))
            + 0.16 * wave((2, 5))
        ) / 3

    def transported():
        radius, angle = r * np.exp(-0.2 * t), theta - t
        return kernels(radius * np.cos(angle), radius * np.sin(angle), 0.0)

    expected = {
        "heat-dirichlet": lambda: kernels(*x.T, t),
        "heat-neumann": neumann,
        "heat-flux": lambda: neumann() + psi(1, zero(1, 1)),
        "heat-robin": lambda: psi(2, 4.0),
        "heat-mixed": mixed,
        "transport": transported,
    }[name]()
    np.testing.assert_allclose(problems.get(name).exact(x, t), expected, rtol=0, atol=5e-15)


def test_the_coefficient_of_heat_robin():
    assert pytest.approx(0.367, abs=5e-4) == LAMBDA
    slope = 4 * scipy.special.jvp(2, 4.0)
    assert abs(scipy.special.jv(2, 4.0) + LAMBDA * slope) < 1e-15
