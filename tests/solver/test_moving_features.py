"""Nonlinear equations on an interval: features that follow a front."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import NonFiniteError
from tengbc.networks.adapt import axes_of_field
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.spaces import LinearSpace
from tengbc.spaces.moving import MovingPlacement
from tests.cole_hopf import NU, error, exact, problem


def test_the_reference_solves_its_own_equation():
    x, h = np.linspace(-0.9, 0.9, 37), 1e-3
    for t in (0.1, 0.25):
        rate = (exact(x, t + h) - exact(x, t - h)) / (2 * h)
        right, here, left = (exact(x + k * h, t) for k in (1, 0, -1))
        expected = -here * (right - left) / (2 * h) + NU * (right - 2 * here + left) / h**2
        np.testing.assert_allclose(rate, expected, atol=2e-4 * np.abs(rate).max())


def test_burgers_on_a_line_through_the_formation_of_its_front():
    """The classic test: u_x falls from −π to −150 and the error stays below 1e-6, and is known."""
    solution = tb.solve(problem(), 1.0, strategy="moving-features")  # to the default tolerance
    assert solution.result
    for t in (0.1, 0.3, 0.4, 0.5, 0.7, 1.0):
        found = error(solution, t)
        stated = solution.error_estimate[np.argmin(np.abs(solution.times - t))]
        assert found <= 1e-6
        assert found <= 10 * stated + 1e-11 and stated <= 10 * found + 1e-11
    bodies = [
        solution.parameters.network(solution.thetas[k]).body for k in (0, len(solution.times) // 2)
    ]
    first, middle = (np.diff(body.embedding.axes[0].centre).min() for body in bodies)
    assert middle < 0.2 * first  # the features have crowded


def test_a_moving_front_is_followed():
    """u = ½(1 − tanh((x − t/2 − ¼)/(4ν))), ν = 1/200: exact on the whole line, here on (0, 1)."""
    nu = 1 / 200

    def moving(x, t):
        return 0.5 * (1 - jnp.tanh((x[0] - 0.5 * t - 0.25) / (4 * nu)))

    ends = tb.Dirichlet(moving)
    front = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Burgers(nu),
        {"left": ends, "right": ends},
        lambda x: moving(x, 0.0),
        moving,
    )
    solution = tb.solve(front, 0.2, rtol=1e-4, strategy="moving-features")
    x = np.linspace(0, 1, 501)[:, None]
    for t in (0.0, 0.1, 0.2):
        truth = front.exact(x, t)
        assert np.linalg.norm(solution(x, t) - truth) <= 1e-4 * np.linalg.norm(truth)


def moving_space():
    burgers = problem()
    placement = MovingPlacement(burgers.domain, 40, 100, 0, 0)
    axis = axes_of_field(burgers.domain, burgers.initial_function)[0].axes[0]
    return LinearSpace(
        burgers,
        placement.network(axis),
        placement.interior(axis),
        boundary_points(burgers.domain, 2),
        placement=placement,
    )


def test_new_features_carry_the_same_function():
    space = moving_space()
    interior = space.collocation.interior
    start = space.project(
        space.collocation.parameters.start, initial_values(space.collocation.problem, interior), 0.0
    ).theta
    assert space.adapt(start, 0.0) is start  # nothing has moved
    steeper = -np.tanh(interior.x / 0.1) + interior.x * np.tanh(10.0)
    before = space.project(start, steeper, 0.0).theta
    after = space.adapt(before, 0.0)
    assert not np.array_equal(before[:50], after[:50])
    x, network = np.linspace(-1, 1, 101)[:, None], space.collocation.parameters.network
    same = network(before).evaluate(x), network(after).evaluate(x)
    np.testing.assert_allclose(*same, atol=2e-3)  # 40 waves at 100 points: what both leave of it
    np.testing.assert_allclose(after[:48], space.body[:48])


def test_what_it_remembers_makes_it_the_same_again():
    first, second = moving_space(), moving_space()
    interior = first.collocation.interior
    steep = first.project(
        first.collocation.parameters.start, -np.tanh(interior.x / 0.05), 0.0
    ).theta
    first.adapt(first.project(steep, -np.sin(np.pi * interior.x), 0.0).theta, 0.0)
    moved = first.adapt(steep, 0.1)
    first.linearise(0.2, first.head(moved))
    second.remember(first.memory())
    np.testing.assert_array_equal(first.phi, second.phi)
    np.testing.assert_array_equal(first.rate_matrix, second.rate_matrix)
    np.testing.assert_array_equal(first.scale, second.scale)
    np.testing.assert_array_equal(first.adapt(moved, 0.2), second.adapt(moved, 0.2))


def test_initial_values_that_are_not_finite_are_named():
    gap = lambda x: jnp.where(jnp.abs(x[0] - 0.5) < 0.01, jnp.nan, jnp.sin(jnp.pi * x[0]))
    ends = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    broken = tb.Problem(tb.Interval(0.0, 1.0), tb.Burgers(0.1), ends, gap)
    with pytest.raises(NonFiniteError, match=r"The initial condition is not finite .* x = \(0\.49"):
        tb.solve(broken, 0.1, rtol=1e-2, strategy="moving-features")


@pytest.mark.parametrize("scheme", ["bdf3", "imex2"])
def test_other_schemes_are_refused_and_frozen_features_take_them(scheme):
    smooth = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.AllenCahn(0.1),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        lambda x: 0.5 * jnp.cos(jnp.pi * x[0]),
    )
    choices = {"scheme": scheme, "dt": 0.02, "rtol": 1e-2}
    with pytest.raises(tb.UsageError, match="moving-features cannot march with the scheme"):
        tb.solve(smooth, 0.2, strategy="moving-features", **choices)
    solution = tb.solve(smooth, 0.2, strategy="frozen-features", **choices)
    assert solution.frozen and solution.facts["strategy"] == "frozen-features"
