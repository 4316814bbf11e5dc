"""Rows in blocks against the same rows on one host."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import NonFiniteError
from tengbc.lstsq.blocks import RowBlocks
from tengbc.networks import mlp
from tengbc.projection import BlockedCollocation, Collocation, SubsetProjection
from tengbc.solver.sampling import boundary_points, initial_values


def case(problem, points=75, boundary=21, seed=3):
    """Both kinds of rows and a θ."""
    domain = problem.domain
    network = mlp(domain, problem.components, widths=(7, 6), seed=seed)
    places = (domain.interior(points), boundary_points(domain, boundary))
    host = Collocation(problem, network, *places)
    theta = host.parameters.start + np.random.default_rng(0).normal(size=len(host.parameters))
    return host, BlockedCollocation(RowBlocks(8, 1), problem, network, *places), 0.3 * theta


def system():
    """Two components, a nonlinear equation and conditions of different kinds."""
    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (1.0, 2.0)),
        equation=tb.ReactionDiffusion(
            (0.1, 0.2), lambda u: jnp.stack([u[0] * u[1], u[0] - u[1] ** 3])
        ),
        conditions={
            "left": tb.Dirichlet(0.0),
            "right": tb.Neumann(0.0),
            "bottom": tb.Robin(a=1.0, b=0.3, v=0.1),
            "top": tb.Dirichlet(0.0),
        },
        initial=lambda x: jnp.stack([x[0], x[1]]),
        t_end=1.0,
    )


PROBLEMS = {"heat-robin": tb.problems.get("heat-robin"), "system": system()}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_values_rates_and_residuals(problem):
    host, blocked, theta = case(problem)
    n = len(host.interior)
    np.testing.assert_allclose(
        blocked.values(theta)[:n], host.values(theta), rtol=1e-13, atol=1e-14
    )
    np.testing.assert_allclose(
        blocked.rates(theta, 0.2)[:n], host.rates(theta, 0.2), rtol=1e-11, atol=1e-12
    )
    start = lambda points: initial_values(problem, points)
    target, there = host.sampled(start), blocked.sampled(start)
    np.testing.assert_allclose(there[:n], target, rtol=1e-13, atol=1e-15)
    residual = blocked.residual(theta, there, 0.2)
    assert blocked.size(residual) == pytest.approx(host.size(host.residual(theta, target, 0.2)))
    assert blocked.norm(there) == pytest.approx(host.norm(target))
    assert blocked.inside_size(there) == pytest.approx(host.inside_size(target))
    assert blocked.boundary_sizes(theta, 0.2) == pytest.approx(host.boundary_sizes(theta, 0.2))


@pytest.mark.parametrize("method", ["svd", "gram"])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_a_step_is_that_of_one_host(problem, method):
    host, blocked, theta = case(problem)
    active = np.arange(0, len(theta), 3)
    start = lambda points: initial_values(problem, points)
    residual = host.residual(theta, host.sampled(start), 0.1)
    lengths, alone = host.linearised(theta, 0.1, active, residual, method)
    there = blocked.residual(theta, blocked.sampled(start), 0.1)
    lengths_there, tall = blocked.linearised(theta, 0.1, active, there, method)
    np.testing.assert_allclose(lengths_there, lengths, rtol=1e-11)
    found, wanted = tall.solve(1e-3), alone.solve(1e-3)
    assert found.residual == pytest.approx(wanted.residual, rel=1e-2)
    np.testing.assert_allclose(
        tall.again(there, 1e-2), alone.again(residual, 1e-2), rtol=1e-6, atol=1e-9
    )


def test_a_fit_is_as_good_as_on_one_host():
    host, blocked, _ = case(PROBLEMS["heat-robin"])
    start = lambda points: initial_values(PROBLEMS["heat-robin"], points)
    fitting = SubsetProjection(iterations=4, subset=60, cutoff=1e-3, method="svd")
    fits = [
        fitting.fit(host.parameters.start, rows, rows.sampled(start), 0.0, (0,))
        for rows in (host, blocked)
    ]
    assert fits[0].iterations == fits[1].iterations > 0
    assert fits[1].residual == pytest.approx(fits[0].residual, rel=1e-3)
    assert fits[1].start == pytest.approx(fits[0].start, rel=1e-12)


def test_the_point_of_a_nan_is_named():
    problem = PROBLEMS["heat-robin"]
    _, blocked, theta = case(problem)
    theta[0] = np.nan
    with pytest.raises(NonFiniteError, match=r"right-hand side is not finite at t = 0.2, x = \("):
        blocked.rates(theta, 0.2)
    with pytest.raises(NonFiniteError, match="condition on circle"):
        blocked.boundary_residual(theta, 0.2)
