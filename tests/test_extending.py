"""From outside the package: what takes one class is as good as what is built in."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc import schemes
from tengbc.costs import Cost
from tengbc.export.vtk import cells
from tengbc.figures.plot import pictures
from tengbc.geometry import faces
from tengbc.networks import Parameters
from tengbc.networks.network import with_head
from tengbc.solver import strategies
from tengbc.solver.march import Plan
from tengbc.solver.steps import GridSteps, time_grid
from tengbc.spaces import LinearSpace
from tengbc.storage import codec


@dataclass(frozen=True)
class Triangle(tb.Domain):
    """x, y > 0, x + y < size: a domain that gives no more than it must."""

    size: float

    @property
    def segments(self):
        return ("bottom", "slope", "left")

    @property
    def bounds(self):
        return np.zeros(2), np.full(2, self.size)

    def _inside(self, x, margin):
        slope = (self.size - x.sum(axis=1)) / np.sqrt(2)
        return np.minimum(x.min(axis=1), slope) >= -margin

    def _faces(self, segment):
        corner, end, normal = {
            "bottom": ((0, 0), (1, 0), (0, -1)),
            "slope": ((1, 0), (0, 1), (np.sqrt(0.5), np.sqrt(0.5))),
            "left": ((0, 1), (0, 0), (-1, 0)),
        }[segment]
        corner, end = self.size * np.array(corner), self.size * np.array(end)
        return (faces.flat(corner, (end - corner)[None], np.array(normal)),)


@dataclass(frozen=True)
class Planet(tb.Domain):
    """A ball that no part of the package knows as one."""

    ball = tb.Ball(2.0, (0.0, 1.0, 0.0))
    segments = ball.segments
    bounds = ball.bounds

    def _inside(self, x, margin):
        return self.ball._inside(x, margin)

    def _faces(self, segment):
        return self.ball._faces(segment)


class Decay(tb.AbstractEquation):
    """∂ₜu = κ ∇²u − λ u."""

    kappa: float
    rate: float

    def rhs(self, u, x, t):
        return self.kappa * tb.laplacian(u)(x) - self.rate * u(x)

    @property
    def formula(self):
        return f"{self.kappa:g}·∇²u − {self.rate:g}·u"


class Balance(tb.AbstractCondition):
    """∂ₙu = n·s·u: what leaves is in proportion to what is there."""

    slope: tuple[float, float]

    def residual(self, u, x, normal, t):
        return tb.normal_derivative(u)(x, normal) - jnp.dot(normal, jnp.array(self.slope)) * u(x)

    @property
    def formula(self):
        return "∂ₙu = n·s·u"


@pytest.fixture
def registered(monkeypatch):
    """Files know the triangle in this test, and forget it after."""
    monkeypatch.setattr(codec, "_KINDS", dict(codec._KINDS))
    return tb.register(Triangle)


def test_a_domain_needs_four_members():
    """The rest is derived: measure, sampling rules, integration."""
    domain = Triangle(2.0)
    assert domain.measure == pytest.approx(2.0, rel=1e-12) and not domain.fills_box
    for rule in ("low-discrepancy", "random", "uniform"):
        points = domain.interior(200, rule=rule, seed=1)
        assert domain._inside(points.x, -1e-13).all()
        assert points.w.sum() == pytest.approx(2.0, rel=1e-12)
        assert rule == "uniform" or len(points) == 200
        assert np.allclose(points.x.mean(axis=0), 2 / 3, atol=0.1)
    gauss = domain.interior(rule="gauss", order=6)
    # ∫ x² y over the triangle is 2!·1!/5!·2⁵.
    integral = gauss.w @ (gauss.x[:, 0] ** 2 * gauss.x[:, 1])
    assert integral == pytest.approx(2 / 120 * 2**5, rel=1e-9)


def test_a_solid_of_ones_own():
    """Its volume, its points, and the cells that are drawn and exported."""
    domain = Planet()
    volume = domain.ball.measure
    assert domain.measure == pytest.approx(volume, rel=1e-12)
    gauss = domain.interior(rule="gauss", order=12)
    assert gauss.w @ gauss.x[:, 1] ** 2 == pytest.approx(volume * (1 + 4 / 5), rel=1e-2)
    points, corners = cells(domain, 16)
    edges = points[corners[:, 1:]] - points[corners[:, :1]]
    assert np.abs(np.linalg.det(edges)).sum() / 6 == pytest.approx(volume, rel=0.02)
    assert domain.contains(points).all()
    for picture in pictures(domain):
        assert domain.contains(picture.x[np.unique(picture.triangles)]).all()


def test_a_domain_that_contains_nothing_says_so():
    class Empty(Triangle):
        def _inside(self, x, margin):
            return np.zeros(len(x), dtype=bool)

    with pytest.raises(tb.ProblemError, match="far fewer than its measure promises"):
        Empty(1.0).interior(50)


def test_a_domain_an_equation_and_a_condition_of_ones_own(registered, tmp_path):
    """u = exp(x/2 − y/4 + (κ|s|² − λ)t) with s = (1/2, −1/4) solves them; to a file and back."""
    slope, kappa, rate = (0.5, -0.25), 0.1, 1.0
    growth = kappa * (slope[0] ** 2 + slope[1] ** 2) - rate
    domain = registered(1.0)
    problem = tb.Problem(
        domain,
        Decay(kappa, rate),
        {"bottom": Balance(slope), "slope": Balance(slope), "left": Balance(slope)},
        initial=lambda x: jnp.exp(jnp.dot(x, jnp.array(slope))),
        exact=lambda x, t: jnp.exp(jnp.dot(x, jnp.array(slope)) + growth * t),
        t_end=0.5,
    )
    solution = tb.solve(problem, rtol=1e-3)
    x = domain.interior(300).x
    exact = problem.exact(x, 0.5)
    assert np.linalg.norm(solution(x, 0.5) - exact) <= 1e-3 * np.linalg.norm(exact)
    assert solution.integral(0.5) == pytest.approx(_integral(slope) * np.exp(growth / 2), rel=1e-3)
    back = tb.load(solution.save(tmp_path / "u.safetensors"))
    assert back.problem.domain == domain
    assert back.problem.described() == problem.described()
    np.testing.assert_array_equal(back(x, 0.3), solution(x, 0.3))


class SomeMidpoint(tb.AbstractScheme):
    """u⁺ = u + Δt·L(u + ½Δt·L(u)), written down anew."""

    name, order, explicit, one_step = "midpoint", 2, True, True

    def prepare(self, space, dt, many=False):
        def step(state, t, key=()):
            theta, u = state.theta, space.values(state.theta)
            half = space.project(theta, u + dt / 2 * space.rates(theta, t), t + dt / 2, (*key, 0))
            rates = space.rates(half.theta, t + dt / 2)
            fit = space.project(half.theta, u + dt * rates, t + dt, (*key, 1))
            return tb.State(fit.theta), [half, fit]

        return step


def decaying():
    ends = {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)}
    exact = lambda x, t: jnp.exp(-0.1 * jnp.pi**2 * t) * jnp.cos(jnp.pi * x[0])
    return tb.Problem(
        tb.Interval(0.0, 1.0), tb.Heat(0.1), ends, lambda x: exact(x, 0.0), exact, t_end=0.2
    )


def test_a_scheme_of_ones_own():
    """One class and one line: options know it by name, and it marches with its order."""
    tb.add_scheme(SomeMidpoint())
    try:
        errors = []
        for dt in (4e-3, 2e-3):
            choices = {"scheme": "midpoint", "dt": dt, "features": 24, "throw": False}
            solution = tb.solve(decaying(), strategy="frozen-features", **choices)
            assert solution.facts["scheme"] == "midpoint"
            x = solution.problem.domain.interior(50).x
            errors.append(np.abs(solution(x, 0.2) - solution.problem.exact(x, 0.2)).max())
        assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
        with pytest.raises(tb.UsageError, match="'midpoint' already"):
            tb.add_scheme(SomeMidpoint())
    finally:
        del schemes.SCHEMES["midpoint"]


class CosineModes(tb.AbstractStrategy):
    """Heat between insulated walls, by the cosines that it does not mix."""

    name = "cosine-modes"
    what = "cosines that heat between insulated walls does not mix"
    honours = frozenset({"rtol", "dt"})

    def applies(self, problem):
        wanted = isinstance(problem.domain, tb.Interval) and "∇²u" in problem.equation.formula
        return tb.Applies(wanted, "heat on an interval" if wanted else "no heat on an interval")

    def first(self, task):
        return 4, task.options.dt or task.t_end / 8

    def companions(self, answer):
        return {"companion": self.refine(None, answer.resolution, None, None)}

    def refine(self, task, resolution, trajectory, blame):
        modes, dt = resolution
        return 2 * modes, dt / 2

    def network(self, problem, modes):
        # One function more that meets no condition: rows of zeros would say nothing about u.
        numbers = jnp.pi * jnp.arange(1, modes + 1)
        waves = lambda x: jnp.append(jnp.cos(numbers * x[0]), jnp.sin(x[0]))
        return with_head(tb.Basis(waves, 1), 0)

    def discretise(self, task, resolution):
        problem, (modes, dt) = task.problem, resolution
        interior = problem.domain.interior(rule="gauss", order=40)
        boundary = [problem.domain.boundary(segment, 1) for segment in problem.domain.segments]
        space = LinearSpace(problem, self.network(problem, modes), interior, boundary)
        target = problem.initial(interior.x)[:, None]
        theta = space.project(space.collocation.parameters.start, target, 0.0).theta
        steps, scheme = GridSteps(time_grid(task.t_end, dt)), schemes.SCHEMES["radau5"]
        network = space.collocation.parameters.network
        return Plan(space, scheme, steps, tb.State(theta), network, {"scheme": scheme.name})

    def parameters(self, task, resolution, trajectory):
        return Parameters(self.network(task.problem, resolution[0])), np.array(trajectory.thetas)

    def cost(self, problem, options, t_end, speed):
        return Cost(1.0, 1e6, "rtol")


def test_a_strategy_of_ones_own():
    """One class and one line: it is asked first, chosen by name, verified like all others."""
    assert tb.select_strategy(decaying()).strategy.name == "local-features"
    tb.add_strategy(CosineModes())
    try:
        selection = tb.select_strategy(decaying())
        assert selection.strategy.name == "cosine-modes" and "heat on an interval" in str(selection)
        solution = tb.solve(decaying(), rtol=1e-8)
        assert solution.facts["strategy"] == "cosine-modes" and solution.result
        x = solution.problem.domain.interior(50).x
        error = np.abs(solution(x, 0.2) - solution.problem.exact(x, 0.2)).max()
        assert error < 1e-8
        with pytest.raises(tb.UsageError, match=r"cosine-modes .* not take .* features"):
            tb.solve(decaying(), features=30)
        other = tb.solve(decaying(), strategy="frozen-features", rtol=1e-4)
        assert other.facts["strategy"] == "frozen-features"
    finally:
        strategies.STRATEGIES.pop(0)


def _integral(slope):
    """∫ exp(a·x + b·y) over the unit triangle."""
    a, b = slope
    return (np.expm1(a) / a - np.exp(b) * np.expm1(a - b) / (a - b)) / -b
