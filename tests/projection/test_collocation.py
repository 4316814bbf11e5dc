"""Rows over the closed domain: residual and Jacobian against formulas written out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.fields import gradient
from tengbc.geometry import Interval, Points
from tengbc.networks import mlp
from tengbc.problem import Problem
from tengbc.projection import Collocation
from tests.projection.cases import (
    SCALAR,
    SCALAR_ROWS,
    SYSTEM,
    SYSTEM_ROWS,
    collocation,
    start,
)

T = 0.7
CASES = {"scalar": (SCALAR, SCALAR_ROWS), "system": (SYSTEM, SYSTEM_ROWS)}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    problem, laws = CASES[request.param]
    rows = collocation(problem)
    return rows, start(rows), laws


def by_hand(rows, laws):
    """θ ↦ (u, g) scaled by the roots of the weights, in the order of the rows."""

    def of(theta):
        u = rows.parameters.network(theta)
        inside = jax.vmap(u)(rows.interior.x)
        parts = [jax.vmap(jnp.multiply)(np.sqrt(rows.interior.w), inside).ravel()]
        for points in rows.boundary:
            law = lambda x, n, law=laws[points.segment]: law(u, x, n, T)
            g = jax.vmap(law)(points.x, points.normal)
            parts.append(jax.vmap(jnp.multiply)(np.sqrt(points.w), g).ravel())
        return jnp.concatenate(parts)

    return of


def test_residual_and_every_column(case):
    rows, theta, laws = case
    of = by_hand(rows, laws)
    found, jacobian = jax.jit(lambda theta: (of(theta), jax.jacfwd(of)(theta)))(theta)
    everything = rows.columns(theta, T, np.arange(len(theta)))
    assert everything.shape == (len(theta), rows.rows)
    size = np.abs(jacobian).max()
    np.testing.assert_allclose(everything.T, jacobian, rtol=0, atol=1e-12 * size)
    # In any order they are the same.
    order = np.random.default_rng(1).permutation(len(theta))
    shuffled = rows.columns(theta, T, order)
    np.testing.assert_allclose(shuffled, everything[order], rtol=0, atol=1e-14 * size)
    target = np.random.default_rng(2).normal(size=(len(rows.interior), rows.components))
    wanted = np.zeros(rows.rows)
    wanted[: rows.interior_rows] = (np.sqrt(rows.interior.w) * target.T).T.ravel()
    np.testing.assert_allclose(
        rows.residual(theta, target, T), wanted - found, rtol=0, atol=1e-12 * np.abs(found).max()
    )


def test_a_step_along_the_columns_lowers_the_residual(case):
    """The sign: r − Jδ is the residual after θ + δ."""
    rows, theta, _ = case
    target = rows.values(theta) + 0.1
    rng = np.random.default_rng(0)
    step = 1e-6 * rng.normal(size=len(theta))
    before, after = (rows.residual(point, target, T) for point in (theta, theta + step))
    promised = before - step @ rows.columns(theta, T, np.arange(len(theta)))
    assert np.linalg.norm(after - promised) < 1e-4 * np.linalg.norm(after - before)


def test_the_squares_of_the_scales_are_the_measures(case):
    """Σ scale² is |Ω| per component inside, |Γ| per condition on each segment."""
    rows, theta, _ = case
    domain, place = rows.problem.domain, rows.interior_rows
    inside = np.sum(rows.scale[:place] ** 2)
    assert inside == pytest.approx(domain.measure * rows.components, rel=1e-12)
    for points, g in zip(rows.boundary, rows.boundary_residual(theta, T), strict=True):
        on_segment = np.sum(rows.scale[place : place + g.size] ** 2)
        conditions = g.size // len(points)
        assert on_segment == pytest.approx(
            domain.segment_measure(points.segment) * conditions, rel=1e-12
        )
        place += g.size
    assert place == rows.rows == len(rows.scale)
    one = np.ones((len(rows.interior), rows.components))
    assert rows.norm(one) == pytest.approx(np.sqrt(domain.measure * rows.components), rel=1e-12)


def test_rates_are_the_equations_right_hand_side(case):
    rows, theta, _ = case

    @jax.jit
    @jax.vmap
    def expected(x):
        u = rows.parameters.network(theta)
        if rows.components == 1:
            return u(x)[None], 0.3 * jnp.trace(jax.hessian(u)(x))[None]
        (p, vx, vy), du = u(x), jax.jacrev(u)(x)
        return u(x), jnp.stack([-du[1, 0] - du[2, 1], -du[0, 0] + T * vy, -du[0, 1] * p + vx])

    values, rates = expected(rows.interior.x)
    np.testing.assert_allclose(rows.values(theta), values, atol=1e-13)
    np.testing.assert_allclose(rows.rates(theta, T), rates, atol=1e-11)


def test_many_points_give_what_few_give():
    """Past 4,096 and past 8,192 points the work is done in pieces; nothing else changes."""
    problem, count = wave(), 8300
    network = mlp(problem.domain, 2, widths=(5,))
    x = problem.domain.interior(count, rule="random").x
    points = Points(x, 1 + x[:, 0])
    chosen = np.r_[0:50, 4096 - 50 : 4096 + 50, 8192 - 50 : 8192 + 50, count - 50 : count]
    whole = Collocation(problem, network, points, [])
    part = Collocation(problem, network, Points(points.x[chosen], points.w[chosen]), [])
    theta = start(whole)
    active = np.arange(0, len(theta), 3)
    np.testing.assert_allclose(whole.values(theta)[chosen], part.values(theta), atol=1e-14)
    np.testing.assert_allclose(whole.rates(theta, T)[chosen], part.rates(theta, T), atol=1e-13)
    columns, expected = (
        rows.columns(theta, T, active).reshape(len(active), -1, 2) for rows in (whole, part)
    )
    np.testing.assert_allclose(columns[:, chosen], expected, atol=1e-14)


def wave():
    """∂ₜ(p, v) = (∂ₓv, ∂ₓp) on an interval."""
    return Problem(
        domain=Interval(0.0, 1.0),
        equation=lambda u, x, t: gradient(u)(x)[::-1, 0],
        conditions={"left": lambda u, x, n, t: u(x)[0], "right": lambda u, x, n, t: u(x)[0]},
        initial=lambda x: jnp.stack([jnp.sin(x[0]), x[0]]),
    )
