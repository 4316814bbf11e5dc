"""The separable projection: head exactly, body by damped steps that only ever help."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.conditions import Dirichlet
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.networks import Basis, mlp, random_features
from tengbc.networks.network import with_head
from tengbc.problem import Problem
from tengbc.projection import Collocation, Fit, SeparableProjection
from tengbc.projection.damped import DampedNormalEquations
from tengbc.solver.sampling import boundary_points
from tests.networks.cases import some_theta

KEY = (0, 0, 0)


def smooth(x):
    return jnp.exp(x[0]) * jnp.cos(2 * x[1])


PROBLEM = Problem(Disk(), Heat(1.0), {"circle": Dirichlet(lambda x, t: smooth(x))}, smooth)


def rows(network, interior=300, boundary=60, problem=PROBLEM):
    domain = problem.domain
    return Collocation(
        problem, network, domain.interior(interior), boundary_points(domain, boundary)
    )


def initial(collocation):
    return collocation.problem.initial(collocation.interior.x)[:, None]


def test_random_features_need_only_their_head():
    features = rows(random_features(PROBLEM.domain, 300), 1200, 100)
    target, theta = initial(features), features.parameters.start
    fit = SeparableProjection(iterations=0).fit(theta, features, target, 0.0, KEY)
    assert fit.residual < 1e-9 * fit.size
    assert fit.residual == np.linalg.norm(features.residual(fit.theta, target, 0.0))
    np.testing.assert_array_equal(
        fit.theta[: features.parameters.head.start], theta[: features.parameters.head.start]
    )


def test_the_body_improves_a_small_network():
    small = rows(mlp(PROBLEM.domain, widths=(12, 12)))
    target, theta = initial(small), small.parameters.start
    seen = []
    head, body = (
        SeparableProjection(iterations=iterations).fit(
            theta, small, target, 0.0, KEY, progress=lambda *known: seen.append(known)
        )
        for iterations in (0, 40)
    )
    assert head.residual < head.start and body.residual < head.residual / 300
    assert body.residual == np.linalg.norm(small.residual(body.theta, target, 0.0))
    sizes = [head.residual, *(size for _, size in seen)]
    assert all(b < a for a, b in itertools.pairwise(sizes))
    assert len(seen) == body.iterations


def test_converges_quadratically_to_what_the_network_can_be():
    """Eliminating the head is exact: near a perfect fit each step squares the distance to it."""
    problem = Problem(Disk(), Heat(1.0), {"circle": lambda u, x, n, t: 1e-9 * u(x)}, 0.0)
    small = rows(mlp(problem.domain, widths=(3,)), 200, 10, problem)
    there, body = some_theta(small.parameters), small.parameters.head.start
    here = there.copy()
    here[:body] += 0.02 * np.random.default_rng(1).normal(size=body)
    sizes = [
        SeparableProjection(iterations=iterations, damping=1e-10)
        .fit(here, small, small.values(there), 0.0, KEY)
        .residual
        for iterations in range(4)
    ]
    assert sizes[0] > 1e-3 and sizes[1] < 1e-3 and sizes[2] < 1e-6 and sizes[3] < 1e-8


def test_some_columns_of_the_body_are_enough_and_the_key_names_them():
    small = rows(mlp(PROBLEM.domain, widths=(12, 12)))
    target, theta = initial(small), small.parameters.start
    projection = SeparableProjection(iterations=15, subset=60)
    one, same, other = (
        projection.fit(theta, small, target, 0.0, key) for key in (KEY, KEY, (1, 0, 0))
    )
    np.testing.assert_array_equal(one.theta, same.theta)
    assert np.abs(one.theta - other.theta).max() > 1e-3
    assert one.residual < SeparableProjection(0).fit(theta, small, target, 0.0, KEY).residual / 10


def test_acceleration_goes_down_a_bent_valley_faster():
    """The same iterations, each with the valley's bend: far below, and never uphill."""
    deep = rows(mlp(PROBLEM.domain, widths=(8, 8, 8)))
    target, theta = initial(deep), deep.parameters.start
    seen = []
    plain, bent = (
        SeparableProjection(iterations=25, acceleration=acceleration).fit(
            theta, deep, target, 0.0, KEY, progress=lambda *known: seen.append(known)
        )
        for acceleration in (False, True)
    )
    assert bent.residual < plain.residual / 3
    sizes = [size for _, size in seen[-bent.iterations :]]
    assert len(sizes) == bent.iterations and all(b < a for a, b in itertools.pairwise(sizes))


def test_a_linear_space_is_solved_at_once():
    basis = rows(with_head(Basis(lambda x: jnp.stack([x[0], x[1] ** 2]), 2), 0), 60, 20)
    target, theta = initial(basis), np.ones(3)
    matrix = basis.columns(theta, 0.0, np.arange(3)).T
    best = theta + np.linalg.lstsq(matrix, basis.residual(theta, target, 0.0), rcond=None)[0]
    fit = SeparableProjection().fit(theta, basis, target, 0.0, KEY)
    np.testing.assert_allclose(fit.theta, best, atol=1e-13)
    assert (fit.iterations, fit.rank) == (0, 3)


def test_stops_when_nothing_more_is_gained():
    """A constant is in the head: no step of the body is tried. Else stagnation ends it."""
    problem = Problem(Disk(), Heat(1.0), {"circle": Dirichlet(2.0)}, 2.0)
    constant = rows(mlp(problem.domain, widths=(4,)), 50, 20, problem)
    target = initial(constant)
    fit = SeparableProjection().fit(constant.parameters.start, constant, target, 0.0, KEY)
    assert fit.iterations == 0 and fit.residual < 1e-13
    # Noise cannot be fitted by four neurons; the fit sees that long before its last iteration.
    noise = np.random.default_rng(0).normal(size=target.shape)
    projection = SeparableProjection(iterations=3000, patience=3)
    assert projection.fit(constant.parameters.start, constant, noise, 0.0, KEY).iterations < 300


def test_a_step_that_overflows_is_shortened_not_an_error():
    """exp(800 u²) leaves the range of floating point as soon as |u| passes one."""
    problem = Problem(
        Disk(), Heat(1.0), {"circle": lambda u, x, n, t: jnp.exp(800 * u(x) ** 2) - 1}, smooth
    )
    stiff = rows(mlp(problem.domain, widths=(6,)), 50, 20, problem)
    theta, target = stiff.parameters.start, 0.1 * stiff.interior.x[:, :1]
    fit = SeparableProjection(iterations=5, damping=1e-13).fit(theta, stiff, target, 0.0, KEY)
    assert fit.residual <= fit.start
    target *= 1e3
    fit = SeparableProjection(iterations=5, damping=1e-13).fit(theta, stiff, target, 0.0, KEY)
    assert fit.residual <= fit.start


def test_conditions_that_are_not_linear():
    """u⁴ + ∂ₙu on the circle: still a Gauss–Newton step, and steps that raise it are not kept."""
    problem = Problem(Disk(), Heat(1.0), {"circle": lambda u, x, n, t: u(x) ** 4 - x[0] ** 4}, 0.0)
    bent = rows(mlp(problem.domain, widths=(8, 8)), 100, 40, problem)
    theta, target = bent.parameters.start.copy(), bent.interior.x[:, :1]
    theta[bent.parameters.head.start :] += 0.1
    fit = SeparableProjection(iterations=60).fit(theta, bent, target, 0.0, KEY)
    assert fit.residual < 0.01 * fit.start


@pytest.mark.parametrize("shape", [(5, 30), (30, 5)])
@pytest.mark.parametrize("damping", [1e-6, 0.3])
def test_damped_normal_equations(shape, damping):
    """min ‖r − Jδ‖² + λ‖δ‖², whichever of the two spaces is smaller."""
    rng = np.random.default_rng(0)
    columns, residual = rng.normal(size=shape), rng.normal(size=shape[1])
    normal = DampedNormalEquations(columns, residual)
    step = normal.factor(damping)(residual)
    promised = normal.predicted_residual(step)
    unit = np.sum(columns**2) / min(shape)
    stacked = np.concatenate([columns.T, np.sqrt(damping * unit) * np.eye(shape[0])])
    wanted = np.concatenate([residual, np.zeros(shape[0])])
    expected = np.linalg.lstsq(stacked, wanted, rcond=None)[0]
    np.testing.assert_allclose(step, expected, atol=1e-9)
    assert promised == pytest.approx(np.linalg.norm(residual - step @ columns), abs=1e-12)


def test_columns_that_repeat_do_not_stop_the_fit():
    """Many equal neurons: JᵀJ is singular to round-off however small the damping gets."""
    many = mlp(PROBLEM.domain, widths=(2, 60))
    repeated = rows(many)
    theta = repeated.parameters.start.copy()
    theta[6 : 6 + 120] = np.tile(theta[6:8], 60)
    theta[126:186] = theta[126]
    projection = SeparableProjection(iterations=10, damping=1e-30)
    fit = projection.fit(theta, repeated, initial(repeated), 0.0, KEY)
    assert np.isfinite(fit.theta).all() and fit.residual < fit.start


def test_the_misfit_is_relative_to_what_had_to_be_fitted():
    assert Fit(np.zeros(1), residual=0.5, start=4.0, size=3.0).misfit == pytest.approx(0.1)
    assert Fit(np.zeros(1), residual=0.0, start=0.0, size=0.0).misfit == 0.0
