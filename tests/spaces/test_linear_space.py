"""Frozen features: matrices against jacfwd, fits against NumPy, and what the cache may keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.networks import random_features
from tengbc.schemes import RadauIIA
from tengbc.solver.sampling import boundary_points
from tengbc.spaces import State, linear
from tengbc.spaces.linear import LinearSpace
from tests.projection.cases import SCALAR, SYSTEM


def space_for(problem, features=20, interior=50, boundary=40, damping=1e-13):
    domain = problem.domain
    network = random_features(domain, features, problem.components)
    points = boundary_points(domain, boundary)
    return LinearSpace(problem, network, domain.interior(interior), points, damping)


def heat(condition, kappa=0.3):
    domain = tb.Rectangle((0.0, 0.0), (2.0, 1.0))
    return tb.Problem(
        domain,
        tb.Heat(kappa),
        {segment: condition for segment in domain.segments},
        lambda x: jnp.sin(x[0]) * x[1],
    )


@pytest.mark.parametrize("problem", [SCALAR, SYSTEM], ids=["scalar", "system"])
def test_matrices_are_the_derivatives_of_the_rows(problem):
    space, t = space_for(problem), 0.7
    c = np.random.default_rng(0).normal(size=space.unknowns)
    space.linearise(t, c)
    rows = space.collocation

    def stacked(c):
        u = rows.parameters.network(jnp.concatenate([space.body, c]))
        inside = [jnp.ravel(jax.vmap(u)(rows.interior.x))]
        inside += [jnp.ravel(jax.vmap(lambda x: problem.equation.rhs(u, x, t))(rows.interior.x))]
        outside = [
            jnp.ravel(
                jax.vmap(
                    lambda x, n, s=points.segment: jnp.atleast_1d(
                        problem.conditions[s].residual(u, x, n, t)
                    )
                )(points.x, points.normal)
            )
            for points in rows.boundary
        ]
        return jnp.concatenate([*inside, *outside])

    expected = np.asarray(jax.jit(jax.jacfwd(stacked))(c))
    found = np.concatenate([space.phi, space.rate_matrix, space.boundary_matrix])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
    # With the rest the laws themselves come out, linear or not, at this time and at any other.
    for time in (t, 0.2):
        rest, data = space.remainder(c, time)
        np.testing.assert_allclose(
            space.rate_matrix @ c + rest, rows.rates(space.theta(c), time).ravel(), atol=1e-9
        )
        residual = np.concatenate([g.ravel() for g in rows.boundary_residual(space.theta(c), time)])
        np.testing.assert_allclose(space.boundary_matrix @ c - data, residual, atol=1e-9)


def expected_scale(space):
    """√w inside and √(ρw) on the boundary, each condition in units of the interior rows."""
    rows, size = space.collocation, lambda block: np.sqrt(np.mean(block**2))
    parts = [np.repeat(np.sqrt(rows.interior.w), rows.components)]
    blocks = np.split(space.boundary_matrix, space._segment_ends)
    for points, block in zip(rows.boundary, blocks, strict=True):
        weight = np.sqrt(np.repeat(points.w, len(block) // len(points)) * rows.problem.domain.scale)
        parts.append(linear.BOUNDARY_WEIGHT * weight * size(space.phi) / size(block))
    return np.concatenate(parts)


@pytest.mark.parametrize("tau", [0.0, 0.05, 0.03 + 0.02j])
def test_a_solve_is_numpys_least_squares_with_the_same_damping(tau):
    space = space_for(heat(tb.Robin(1.0, 0.4, 0.5)), damping=1e-3)
    rng, rows = np.random.default_rng(1), len(space.phi)
    inside, outside = rng.normal(size=rows), rng.normal(size=len(space.boundary_matrix))
    scale = expected_scale(space)
    matrix = np.concatenate([space.phi - tau * space.rate_matrix, space.boundary_matrix])
    matrix = scale[:, None] * matrix
    damping = 1e-3 * np.linalg.norm(matrix) / np.sqrt(space.unknowns) * np.eye(space.unknowns)
    right = np.concatenate([scale * np.concatenate([inside, outside]), np.zeros(space.unknowns)])
    expected = np.linalg.lstsq(np.concatenate([matrix, damping]), right, rcond=None)[0]
    np.testing.assert_allclose(space.solve(tau, inside, outside), expected, rtol=1e-9, atol=1e-10)


def test_a_projection_meets_target_and_conditions():
    problem = heat(tb.Dirichlet(lambda x, t: jnp.sin(x[0] + t) * x[1]))
    space = space_for(problem, features=120, interior=300, boundary=120)
    x, t = space.collocation.interior.x, 0.4
    target = (np.sin(x[:, 0] + t) * x[:, 1])[:, None]
    fit = space.project(space.collocation.parameters.start, target, t)
    assert fit.misfit < 1e-7
    np.testing.assert_allclose(space.values(fit.theta), target, atol=1e-6)
    residual = np.concatenate(space.boundary_residual(fit.theta, t))
    assert np.abs(residual).max() < 1e-6
    # The reported residual is that of the rows.
    c = space.head(fit.theta)
    missed = np.concatenate([target.ravel() - space.phi @ c, -residual])
    assert fit.residual == pytest.approx(np.linalg.norm(expected_scale(space) * missed), rel=1e-6)


def counting(monkeypatch):
    made = []

    class Counting(linear.RegularisedQR):
        def __init__(self, *arguments):
            made.append(arguments[0].shape)
            super().__init__(*arguments)

    monkeypatch.setattr(linear, "RegularisedQR", Counting)
    return made


def test_one_factorisation_for_each_tau(monkeypatch):
    made = counting(monkeypatch)
    space = space_for(heat(tb.Dirichlet(lambda x, t: t)))
    zeros = np.zeros(len(space.phi)), np.zeros(len(space.boundary_matrix))
    for tau in (0.0, 0.1, 0.0, 0.1 + 0.2j, 0.1, 0.1 + 0.2j, 0.1 - 0.2j):
        space.solve(tau, *zeros)
    assert len(made) == 4
    space.linearise(0.5, np.zeros(space.unknowns))
    space.solve(0.1, *zeros)
    assert len(made) == 5


def test_factorisations_of_step_lengths_that_are_over_make_room(monkeypatch):
    made = counting(monkeypatch)
    space = space_for(heat(tb.Dirichlet(0.0)))
    zeros = np.zeros(len(space.phi)), np.zeros(len(space.boundary_matrix))
    for length in range(1, 21):
        space.solve(float(length), *zeros)
        space.solve(0.0, *zeros)  # used all along, so it stays
    assert len(made) == 21
    space.solve(20.0, *zeros)
    assert len(made) == 21
    space.solve(1.0, *zeros)
    assert len(made) == 22


def march(problem, steps=6, t_end=0.3):
    space = space_for(problem, features=60, interior=150, boundary=60)
    x = space.collocation.interior.x
    theta = space.project(
        space.collocation.parameters.start, problem.initial(x)[:, None], 0.0
    ).theta
    state, scheme = State(theta), RadauIIA(3)
    for n in range(steps):
        state, _ = scheme.step(space, state, t_end * n / steps, t_end / steps, ())
    return space, state.theta


def test_data_and_sources_that_move_leave_the_factorisations_alone(monkeypatch):
    made = counting(monkeypatch)
    problem = heat(tb.Robin(lambda x: 1 + x[0], 0.5, lambda x, t: jnp.cos(t) * x[1]))
    march(problem)
    assert len(made) == 3  # the initial fit, one real and one pair of complex stages


def moving(kind):
    """Problems with u* = sin(x + t)·(1 + y)/2 whose matrices move or whose laws are not linear."""
    exact = lambda x, t: jnp.sin(x[0] + t) * (1 + x[1]) / 2
    kappa = (lambda t: 0.1 + 2 * t) if kind == "κ(t)" else (lambda t: 0.3)

    def rhs(u, x, t):
        cube = u(x) ** 3 if kind == "u³" else 0.0
        return kappa(t) * tb.laplacian(u)(x) - cube

    def equation(u, x, t):
        rate = jax.jvp(lambda s: exact(x, s), (t,), (1.0,))[1]
        return rhs(u, x, t) + rate - rhs(lambda y: exact(y, t), x, t)

    def law(u, x, n, t):
        a, b = 1.0, 0.5
        if kind == "a(t), b(t)":
            a, b = 1 + 20 * t, 0.5 + jnp.cos(9 * t) / 3
        radiation = u(x) ** 3 if kind == "∂ₙu + u³" else 0.0
        return a * u(x) + b * tb.normal_derivative(u)(x, n) + radiation

    def condition(u, x, n, t):
        return law(u, x, n, t) - law(lambda y: exact(y, t), x, n, t)

    domain = tb.Rectangle((0.0, 0.0), (2.0, 1.0))
    conditions = {segment: tb.Condition(condition) for segment in domain.segments}
    return tb.Problem(domain, equation, conditions, lambda x: exact(x, 0.0), exact)


@pytest.mark.parametrize("kind", ["linear", "κ(t)", "a(t), b(t)", "u³", "∂ₙu + u³"])
def test_right_answers_where_matrices_move_and_laws_are_not_linear(kind):
    problem = moving(kind)
    space, theta = march(problem, steps=12)
    assert space.linear == (kind == "linear")
    exact = problem.exact(space.collocation.interior.x, 0.3)
    error = np.linalg.norm(space.values(theta)[:, 0] - exact) / np.linalg.norm(exact)
    assert error < 2e-5
    assert max(np.abs(g).max() for g in space.boundary_residual(theta, 0.3)) < 1e-3


def test_a_nonlinear_condition_is_met_by_a_fit_from_nothing():
    problem = moving("∂ₙu + u³")
    space = space_for(problem, features=120, interior=300, boundary=120)
    target = problem.initial(space.collocation.interior.x)[:, None]
    fit = space.project(space.collocation.parameters.start, target, 0.0)
    assert fit.misfit < 1e-7
    np.testing.assert_allclose(space.values(fit.theta), target, atol=1e-6)
