"""From outside the package: what takes one class is as good as what is built in."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.export.vtk import cells
from tengbc.figures.plot import pictures
from tengbc.geometry import faces
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


def _integral(slope):
    """∫ exp(a·x + b·y) over the unit triangle."""
    a, b = slope
    return (np.expm1(a) / a - np.exp(b) * np.expm1(a - b) / (a - b)) / -b
