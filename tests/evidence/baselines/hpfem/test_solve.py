"""Finite elements of high order against known solutions; skipped without NGSolve."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.baselines.hpfem import HpSettings, solve_hpfem
from tengbc.solution.measure import Truth

FINE = HpSettings(size=0.4, order=8, step=0.1, stages=5)


@pytest.fixture(autouse=True)
def ngsolve():
    return pytest.importorskip("ngsolve")


def error(problem, settings):
    truth = Truth(problem)
    times = truth.times(problem.t_end)[::10]
    values = solve_hpfem(problem, None, settings, times=times).at_times(truth.points, times)
    found = [np.linalg.norm(v - truth.values(t)) for v, t in zip(values, times, strict=True)]
    return max(found) / np.linalg.norm(truth.values(0.0))


@pytest.mark.parametrize(
    "name", ["heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed", "transport"]
)
def test_the_paper_s_problems(name):
    assert error(tb.problems.get(name), FINE) < 2e-5


def test_higher_orders_converge_fast():
    problem = tb.problems.get("heat-robin")
    coarse, fine = (error(problem, HpSettings(0.4, p, 0.05, 5)) for p in (4, 8))
    assert fine < coarse / 1000


def manufactured(domain, kappa, velocity, conditions):
    """u = exp(−t) sin(x₁ + 2x₂) or exp(−t) sin x, with a source that makes it true."""
    phase = (lambda x: x[0]) if domain.dim == 1 else (lambda x: x[0] + 2 * x[1])
    u = lambda x, t: jnp.exp(-t) * jnp.sin(phase(x))
    reaction = lambda value: value - value**3
    equation = tb.Heat(kappa) + tb.Transport(velocity) + tb.Reaction(reaction)
    still = lambda x, t: -u(x, t) - equation.rhs(lambda y: u(y, t), x, t)
    laws = {segment: law(u, segment) for segment, law in conditions.items()}
    return tb.Problem(
        domain, equation + tb.Source(still), laws, lambda x: u(x, 0.0), exact=u, t_end=0.5
    )


def value(u, segment):
    return tb.Dirichlet(u)


def exchange(normal):
    def law(u, segment):
        slope = lambda x, t: tb.normal_derivative(lambda y: u(y, t))(x, normal(x))
        return tb.Robin(a=2.0, b=0.5, v=lambda x, t: 2 * u(x, t) + 0.5 * slope(x, t))

    return law


PLANE = tb.Polygon([(0, 0), (1, 0), (1.2, 0.8), (0, 1)], holes=[tb.Disk(0.2, (0.5, 0.4))])
AROUND = exchange(lambda x: -(x - jnp.array([0.5, 0.4])) / 0.2)


def test_all_terms_together_on_a_polygon_with_a_hole():
    laws = dict.fromkeys(PLANE.segments, value) | {"hole0": AROUND}
    kappa = lambda x: 0.2 + 0.1 * x[0] ** 2
    problem = manufactured(PLANE, kappa, lambda x: jnp.stack([x[1], -x[0]]), laws)
    assert error(problem, FINE) < 1e-7


def test_coefficients_that_change_in_time():
    laws = dict.fromkeys(PLANE.segments, value)
    kappa = lambda x, t: 0.2 + 0.1 * jnp.sin(t + x[1])
    problem = manufactured(PLANE, kappa, lambda x, t: jnp.stack([t, 1 - t]), laws)
    assert error(problem, FINE) < 1e-7


def test_an_interval():
    right = exchange(lambda x: jnp.ones(1))
    laws = {"left": value, "right": right}
    problem = manufactured(tb.Interval(0.0, 2.0), 0.3, 0.5, laws)
    assert error(problem, FINE) < 1e-8


def test_a_system_of_two():
    """Components that turn into each other: u = exp(−2κt) (cos t, sin t) sin x₁ sin x₂ ."""
    shape = lambda x: jnp.sin(x[0]) * jnp.sin(x[1])
    u = lambda x, t: jnp.exp(-0.2 * t) * shape(x) * jnp.stack([jnp.cos(t), jnp.sin(t)])
    problem = tb.Problem(
        tb.Rectangle((0.0, 0.0), (np.pi, np.pi)),
        tb.ReactionDiffusion(0.1, lambda v: jnp.stack([-v[1], v[0]])),
        dict.fromkeys(("left", "right", "bottom", "top"), tb.Dirichlet([0.0, 0.0])),
        lambda x: u(x, 0.0),
        exact=u,
        t_end=1.0,
    )
    assert error(problem, FINE) < 1e-6


def test_grading_resolves_a_corner():
    """r^{4/7} sin(4φ/7) is steady around a corner of 7π/4."""
    corner = tb.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (1, -1)])

    def steady(x, t=0.0):
        angle = jnp.arctan2(x[1], x[0])
        angle = jnp.where(x[1] < 0, angle + 2 * jnp.pi, angle)
        return jnp.sum(x**2) ** (2 / 7) * jnp.sin(4 * angle / 7)

    points = corner.interior(300, seed=2).x
    truth = np.array([steady(x) for x in points])
    laws = dict.fromkeys(corner.segments, tb.Dirichlet(lambda x: steady(x)))
    laws |= {"edge0": tb.Dirichlet(0.0), "edge5": tb.Dirichlet(0.0)}
    problem = tb.Problem(corner, tb.Heat(1.0), laws, lambda x: 0.0 * x[0], t_end=5.0)

    def missed(levels):
        settings = HpSettings(0.4, 6, 0.1, 3, levels)
        found = solve_hpfem(problem, None, settings, times=[5.0]).at_times(points, [5.0])[0]
        return np.linalg.norm(found - truth) / np.linalg.norm(truth)

    assert missed(0) > 1e-3
    assert missed(6) < 1e-4


def test_what_it_cannot_solve_it_says():
    with pytest.raises(tb.UsageError, match="PeriodicBox"):
        solve_hpfem(tb.problems.get("burgers"), 1.0)
    radiation = lambda u, x, n, t: tb.normal_derivative(u)(x, n) + u(x) ** 4
    problem = tb.Problem(tb.Disk(), tb.Heat(1.0), {"circle": radiation}, 1.0, t_end=1.0)
    with pytest.raises(tb.UsageError, match="not of that form"):
        solve_hpfem(problem)
    own = tb.Problem(tb.Disk(), lambda u, x, t: -u(x), {"circle": tb.Neumann(0.0)}, 1.0, t_end=1.0)
    with pytest.raises(tb.UsageError, match="weak form"):
        solve_hpfem(own)
