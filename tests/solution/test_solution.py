"""u(x, t): exact at stored times, interpolated between them, refused everywhere else."""

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import OutsideError, UsageError
from tengbc.geometry import Disk
from tengbc.networks import Basis, Parameters, mlp
from tengbc.networks.network import with_head
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.solution import Solution
from tengbc.solution.solution import NEIGHBOURS
from tests.networks.cases import some_theta

DOMAIN = Disk()
POINTS = DOMAIN.interior(20, seed=3).x


def problem(components=0):
    zero = jnp.zeros(components) if components else 0.0
    condition = {"circle": lambda u, x, n, t: u(x)}
    return Problem(DOMAIN, lambda u, x, t: 0 * u(x), condition, lambda x: zero + x[0] * 0)


def solution(network, thetas, times, components=0):
    return Solution(
        problem(components), Parameters(network), np.asarray(times), thetas, Result(Outcome.DONE)
    )


def frozen(coefficient, times, components=0):
    """u = c(t)·x₁ + 2c(t)·x₁x₂ + 1: the body does not move, heads are interpolated."""
    network = with_head(Basis(lambda x: jnp.stack([x[0], x[0] * x[1]]), 2), components)
    rows = components or 1
    values = np.stack([np.asarray(coefficient(t), dtype=float) for t in times])
    weights = np.stack([values, 2 * values], axis=-1)[:, None, :].repeat(rows, axis=1)
    weights *= np.arange(1, rows + 1)[:, None]
    thetas = np.concatenate([weights.reshape(len(times), -1), np.ones((len(times), rows))], axis=1)
    return solution(network, thetas, times, components)


def exact(coefficient, t):
    return coefficient(t) * (POINTS[:, 0] + 2 * POINTS[:, 0] * POINTS[:, 1]) + 1


@pytest.fixture(scope="module")
def moving():
    """All parameters move along straight lines in θ."""
    network = mlp(DOMAIN, widths=(5, 4))
    parameters = Parameters(network)
    first, last = some_theta(parameters, 1), some_theta(parameters, 2)
    times = np.linspace(0.0, 2.0, 41)
    thetas = first + (last - first) * times[:, None] / 2
    return solution(network, thetas, times), lambda t: first + (last - first) * t / 2


def test_stored_times_and_times_between():
    polynomial = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -0.7, 0.1, 1.0])
    of = frozen(polynomial, np.linspace(0.0, 2.0, 17))
    for t in (0.0, 0.125, 2.0, 0.0625, 1.99, 1e-9, 0.7):
        np.testing.assert_allclose(of(POINTS, t), exact(polynomial, t), atol=1e-11)


def test_between_times_the_error_falls_with_the_order_of_the_interpolation():
    """Twelve neighbours: halving the step divides the error by about 2¹²."""
    errors = []
    for steps in (16, 32):
        of = frozen(lambda t: np.cos(9 * t), np.linspace(0.0, 2.0, steps + 1))
        between = 1.0 + 0.5 * 2 / steps
        errors.append(np.abs(of(POINTS, between) - exact(lambda t: np.cos(9 * t), between)).max())
    assert errors[0] > 1e-8
    assert NEIGHBOURS - 1 < np.log2(errors[0] / errors[1]) < NEIGHBOURS + 2


def test_one_time_many_or_none():
    of = frozen(lambda t: t**2, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(of.at_times(POINTS, 0.5), of.at_times(POINTS, [0.5]))
    assert of.at_times(POINTS, []).shape == (0, len(POINTS))


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize("wrong", ["now", [0.1, 0.2]])
def test_a_time_is_one_number(wrong):
    with pytest.raises(UsageError, match="must be one number"):
        frozen(lambda t: t**2, [0.0, 0.5, 1.0])(POINTS, wrong)


def test_a_solution_shows_itself_in_one_line():
    shown = repr(frozen(lambda t: t**2, [0.0, 0.5, 1.0]))
    assert shown.startswith("<Solution") and "0 ≤ t ≤ 1: done" in shown and len(shown) < 100


def test_few_stored_times_are_all_used():
    of = frozen(lambda t: t**2, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(of(POINTS, 0.3), exact(lambda t: t**2, 0.3), atol=1e-14)
    only_start = frozen(lambda t: 1.0, [0.0])
    np.testing.assert_allclose(only_start(POINTS, 0.0), exact(lambda t: 1.0, 0.0), atol=1e-15)
    with pytest.raises(OutsideError):
        only_start(POINTS, 0.1)


def test_a_network_that_moves(moving):
    of, theta = moving
    assert not of.frozen
    for t in (0.0, 0.05, 2.0, 0.777, 1.98):
        network = of.parameters.network(theta(t))
        expected = [float(network(x)) for x in POINTS[:3]]
        np.testing.assert_allclose(of(POINTS, t)[:3], expected, atol=1e-9)
        np.testing.assert_allclose(of(POINTS[1], t), expected[1], atol=1e-9)


@pytest.mark.parametrize("components", [1, 3])
def test_systems(components):
    of = frozen(lambda t: t, [0.0, 0.5, 1.0], components)
    values = of(POINTS, 0.4)
    assert values.shape == (20, components)
    for k in range(components):
        np.testing.assert_allclose(values[:, k] - 1, (k + 1) * (exact(lambda t: t, 0.4) - 1))
    assert of(POINTS[0], 0.4).shape == (components,)


def test_one_point_and_many():
    of = frozen(lambda t: t, [0.0, 1.0])
    many = of(POINTS, 0.5)
    assert many.shape == (20,) and many.dtype == np.float64
    one = of(POINTS[7], 0.5)
    assert one.shape == () and one == pytest.approx(many[7], rel=1e-14)
    assert of(list(POINTS[7]), 0.5) == one
    assert of(np.zeros((0, 2)), 0.5).shape == (0,)
    several = of.at_times(POINTS, [0.0, 0.5, 1])
    assert several.shape == (3, 20)
    np.testing.assert_allclose(several[1], many, rtol=1e-14)


@pytest.mark.parametrize("which", ["frozen", "moving"])
def test_outside_the_domain(which, moving):
    of = frozen(lambda t: t, [0.0, 1.0]) if which == "frozen" else moving[0]
    points = np.array([[0.0, 0.5], [0.8, 0.7], [np.nan, 0.0], [1.0, 0.0]])
    with pytest.raises(OutsideError, match=r"2 of 4 points .* the first at \(0.8, 0.7\)"):
        of(points, 0.5)
    with pytest.raises(OutsideError, match=r"1 of 1 points"):
        of([np.nan, 0.0], 0.5)
    values = of(points, 0.5, outside="nan")
    np.testing.assert_array_equal(np.isnan(values), [False, True, True, False])
    assert np.isnan(of([2.0, 0.0], 0.5, outside="nan"))
    with pytest.raises(UsageError, match="either 'raise' or 'nan'"):
        of(points, 0.5, outside="zero")


def test_the_boundary_belongs_to_the_domain():
    of = frozen(lambda t: t, [0.0, 1.0])
    circle = DOMAIN.boundary("circle", 30)
    for shift in (-1e-13, 0.0, 1e-13):
        assert np.isfinite(of(circle.x + shift * circle.normal, 0.5)).all()
    with pytest.raises(OutsideError):
        of(circle.x + 1e-9 * circle.normal, 0.5)


@pytest.mark.parametrize("t", [-1e-6, 1.0 + 1e-6, 5.0, np.nan, np.inf, -np.inf])
def test_outside_the_solved_times(t):
    of = frozen(lambda t: t, [0.0, 0.5, 1.0])
    with pytest.raises(OutsideError, match="known for 0 ≤ t ≤ 1, but"):
        of(POINTS, t)


def test_the_ends_of_time_are_met_up_to_round_off():
    of = frozen(lambda t: t, [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(of(POINTS, np.nextafter(1.0, 2.0)), of(POINTS, 1.0))
    np.testing.assert_array_equal(of(POINTS, -1e-15), of(POINTS, 0))


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 2, 2), (1,), ()])
def test_points_of_another_dimension(shape):
    with pytest.raises(UsageError, match="in dimension 2 one point has shape"):
        frozen(lambda t: t, [0.0, 1.0])(np.zeros(shape), 0.5)
