"""Gradient, integral and flux, against formulas and against each other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import OutsideError, UsageError
from tengbc.networks import Parameters
from tengbc.solution import Solution
from tests.given import given, monomials
from tests.networks.cases import some_theta


def test_gradient_of_a_polynomial():
    u = given(tb.Disk(), monomials, [3.0, 1.0])
    x = tb.Disk().interior(10).x
    expected = 1.25 * np.stack([6 * x[:, 0] + x[:, 1], x[:, 0]], axis=1)
    np.testing.assert_allclose(u.gradient(x, 0.25), expected, rtol=1e-13)
    np.testing.assert_allclose(u.gradient(x[4], 0.25), expected[4], rtol=1e-13)
    with pytest.raises(OutsideError, match="lie outside the domain"):
        u.gradient([[2.0, 0.0]], 0.25)
    with pytest.raises(OutsideError, match="known for 0 ≤ t ≤ 1"):
        u.gradient(x, 1.5)
    assert np.isnan(u.gradient([[2.0, 0.0]], 0.25, outside="nan")).all()


def test_gradient_of_a_network_that_moves():
    parameters = Parameters(tb.mlp(tb.Disk(), 2, widths=(5, 4)))
    thetas = np.stack([some_theta(parameters, seed) for seed in (1, 2, 3)])
    u = given(tb.Disk(), monomials, np.zeros((2, 2)), 2)
    u = Solution(u.problem, parameters, u.times, thetas, u.result)
    x = tb.Disk().interior(5).x
    assert u.gradient(x, 0.5).shape == (5, 2, 2) and not u.frozen
    np.testing.assert_allclose(
        u.gradient(x, 0.5)[3], jax.jacrev(parameters.network(thetas[1]))(x[3]), rtol=1e-12
    )
    h = 1e-5
    for axis, step in enumerate(h * np.eye(2)):
        slope = (u(x + step, 0.3) - u(x - step, 0.3)) / (2 * h)
        np.testing.assert_allclose(u.gradient(x, 0.3)[..., axis], slope, rtol=1e-7, atol=1e-9)


def test_integral_and_flux_of_a_polynomial():
    """∫ x₁² = π/4 on the unit disk, ∂ₙ(x₁²) = 2cos²φ on its circle, of integral 2π."""
    u = given(tb.Disk(), monomials, [3.0, 1.0])
    assert u.integral(0.0) == pytest.approx(3 * np.pi / 4, rel=1e-13)
    np.testing.assert_allclose(u.integral([0.0, 1.0]), [3 * np.pi / 4, 3 * np.pi / 2], rtol=1e-13)
    assert u.flux("circle", 0.0) == pytest.approx(0.5 * 6 * np.pi, rel=1e-13)
    assert u.flux("circle", 0.0, diffusivity=1) == pytest.approx(6 * np.pi, rel=1e-13)
    varying = u.flux(None, 0.5, diffusivity=lambda x, t: t * x[0] ** 2)
    assert varying == pytest.approx(1.5 * 0.5 * 6 * 3 * np.pi / 4, rel=1e-12)


def test_a_system_has_one_number_per_component():
    u = given(tb.Rectangle(), monomials, [[3.0, 0.0], [0.0, 1.0]], 2, tb.Heat([1.0, 2.0]))
    np.testing.assert_allclose(u.integral(0.0), [1.0, 0.25], rtol=1e-13)
    np.testing.assert_allclose(u.flux("right", 0.0), [6.0, 2 * 0.5], rtol=1e-13)
    assert u.integral([0.0, 1.0]).shape == (2, 2)


def test_one_dimension_and_three():
    u = given(tb.Interval(0.0, 2.0), lambda x: jnp.stack([x[0], x[0] ** 3]), [0.0, 1.0])
    assert u.integral(0.0) == pytest.approx(4.0)
    assert u.flux("right", 0.0) == pytest.approx(6.0) and u.flux("left", 0.0) == 0.0
    u = given(tb.Ball(), lambda x: jnp.stack([x[2] ** 2]), [1.0])
    assert u.integral(0.0) == pytest.approx(4 * np.pi / 15)
    assert u.flux(None, 0.0, diffusivity=1) == pytest.approx(2 * 4 * np.pi / 3)


def test_what_flux_must_know():
    u = given(tb.Disk(), monomials, [1.0, 0.0], equation=lambda u, x, t: tb.laplacian(u)(x))
    with pytest.raises(UsageError, match=r"pass diffusivity=…, and 1 for"):
        u.flux("circle", 0.0)
    with pytest.raises(UsageError, match="has no boundary segment 'rim'; choose one of 'circle'"):
        u.flux("rim", 0.0, diffusivity=1)
    with pytest.raises(UsageError, match=r"diffusivity has shape \(2,\), but the field has \(\)"):
        u.flux("circle", 0.0, diffusivity=[1.0, 2.0])
    assert np.shape(u.integral([])) == (0,)
    sum_of = given(tb.Disk(), monomials, [1.0, 0.0], equation=tb.Heat(2.0) + tb.Source(1.0))
    assert sum_of.flux("circle", 0.0) == pytest.approx(4 * np.pi)


@pytest.mark.usefixtures("wrong_types")
def test_times_are_numbers():
    u = given(tb.Disk(), monomials, [1.0, 0.0])
    with pytest.raises(UsageError, match="must be one number"):
        u.integral([[0.5]])


@pytest.mark.parametrize("name", ["heat-robin", "heat-flux", "heat-mixed"])
def test_heat_balance(name, robin):
    """∫u(t₁) − ∫u(t₀) = ∫∮ κ∂ₙu dt, and d/dt ∫u = ∮ κ∂ₙu: what enters is what there is more of."""
    u = robin if name == "heat-robin" else tb.solve(tb.problems.get(name), rtol=1e-6)
    domain = u.problem.domain
    nodes, weights = np.polynomial.legendre.leggauss(8)
    times = 0.1 + 0.25 * (nodes + 1)
    entered = 0.25 * weights @ [u.flux(None, t) for t in times]
    before, after = u.integral([0.1, 0.6])
    size = np.abs(u(domain.interior(500).x, 0.1)).mean() * domain.measure
    assert abs(after - before - entered) < 1e-6 * size
    h, t = 1e-2, 0.37
    near = u.integral([t - 2 * h, t - h, t + h, t + 2 * h])
    rate = near @ [1, -8, 8, -1] / (12 * h)
    segments = [u.flux(segment, t) for segment in domain.segments]
    exact = tb.gradient(lambda x: u.problem.exact_function(x, t))
    for segment, found in zip(domain.segments, segments, strict=True):
        points = domain.boundary(segment, rule="gauss", order=60)
        slope = jax.vmap(lambda x, n: exact(x) @ n)(points.x, points.normal)
        assert abs(found - 0.1 * points.w @ slope) < 3e-6 * size
    assert abs(rate - sum(segments)) < 1e-5 * size


def test_flux_at_many_times_is_that_at_each():
    u = given(tb.Disk(), monomials, [3.0, 1.0])
    times = [0.0, 0.3, 1.0]
    np.testing.assert_array_equal(u.flux("circle", times), [u.flux("circle", t) for t in times])
    system = given(tb.Rectangle(), monomials, [[3.0, 0.0], [0.0, 1.0]], 2, tb.Heat([1.0, 2.0]))
    assert system.flux("right", times).shape == (3, 2)


def test_what_a_flow_carries_through_a_side():
    """u = 3x₁²(1 + t) on the unit square and v = (2, 1): −∮ 2·3(1 + t) = −6(1 + t) on the right."""
    equation = tb.Heat(0.5) + tb.Transport((2.0, 1.0))
    u = given(tb.Rectangle(), monomials, [3.0, 0.0], equation=equation)
    np.testing.assert_allclose(u.flux("right", [0, 1], kind="advective"), [-6, -12], rtol=1e-12)
    assert u.flux("bottom", 0.0, kind="advective") == pytest.approx(1.0, rel=1e-12)
    assert u.flux("right", 0.0, kind="total") == pytest.approx(-6 + 3.0, rel=1e-12)
    with pytest.raises(UsageError, match=r"no term tb\.Transport"):
        given(tb.Disk(), monomials, [3.0, 1.0]).flux("circle", 0.0, kind="advective")


def ends(**laws):
    return {"left": tb.Dirichlet(0.0), "right": tb.Robin(1.0, 0.5, 0.0), **laws}


BALANCED = {
    "source": tb.Heat(0.1) + tb.Source(lambda x, t: t + x[0]),
    "flow": tb.Heat(0.1) + tb.Transport(lambda x: 1.0 + x),
    "varying": tb.Heat(lambda x: 0.1 + 0.1 * x[0]),
    "reaction": tb.ReactionDiffusion(0.1, lambda u: u * (1 - u)),
}


@pytest.mark.filterwarnings("ignore:initial values")
@pytest.mark.parametrize("name", BALANCED)
def test_the_balance_closes(name):
    """Each part by another route: volumes, boundaries, sources; a wrong one would not close."""
    hill = lambda x: x[0] ** 3 * (1 - x[0]) ** 3 * 20
    problem = tb.Problem(tb.Interval(0.0, 1.0), BALANCED[name], ends(), hill, t_end=0.2)
    solution = tb.solve(problem, rtol=1e-7, throw=False)
    found = solution.balance([0.1, 0.2])
    assert found.closes < 1e-5
    change = solution.integral([0.0, 0.1, 0.2])
    np.testing.assert_allclose(found.stored, change[1:] - change[0], atol=1e-12)
    assert set(found.through) == {"left", "right"} and (np.abs(found.through["left"]) > 0).all()
    assert "the balance closes to" in str(found) and len(str(found).splitlines()) == 4


def test_a_balance_that_does_not_close_says_so():
    """u = 3x₁²(1 + t) solves no such equation."""
    found = given(tb.Rectangle(), monomials, [3.0, 0.0], equation=tb.Heat(0.5)).balance(1.0)
    assert found.stored == pytest.approx(1.0, rel=1e-12)
    assert found.through["right"] == pytest.approx(0.5 * 6 * 1.5, rel=1e-12)
    assert found.closes == pytest.approx(3.5 / 4.5, rel=1e-9)
