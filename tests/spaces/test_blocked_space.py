"""Frozen features on rows in blocks, against the same on one host."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import NonFiniteError, ProblemError
from tengbc.lstsq.blocks import RowBlocks
from tengbc.networks.waves import FeatureFamily
from tengbc.schemes import SCHEMES
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.spaces import BlockedLinearSpace, LinearSpace, State


def nonlinear():
    """A reaction that is not linear."""
    return tb.Problem(
        domain=tb.Interval(0.0, 1.0),
        equation=tb.AllenCahn(0.1),
        conditions={"left": tb.Dirichlet(0.0), "right": tb.Neumann(0.0)},
        initial=lambda x: jnp.sin(0.5 * jnp.pi * x[0]) ** 2,
        t_end=0.1,
    )


EIGHT = RowBlocks(8, 1)
PROBLEMS = {"heat-mixed": tb.problems.get("heat-mixed"), "nonlinear": nonlinear()}


def spaces(problem, features=40):
    """The space on one host, and that in blocks."""
    given = rows(problem, features)
    return LinearSpace(*given, damping=1e-10), BlockedLinearSpace(EIGHT, *given, damping=1e-10)


def rows(problem, features=40):
    """Problem, features and points."""
    domain = problem.domain
    network = FeatureFamily().network(domain, problem.components, features, 0)
    return problem, network, domain.interior(3 * features), boundary_points(domain, features)


@pytest.mark.parametrize("scheme", ["radau5", "bdf2", "heun"])
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_steps_are_those_of_one_host(problem, scheme):
    start = lambda points: initial_values(problem, points)
    found = []
    for space in spaces(problem):
        fit = space.project(
            space.collocation.parameters.start, space.collocation.sampled(start), 0.0
        )
        step, state = SCHEMES[scheme].prepare(space, 1e-4), State(fit.theta)
        for k in range(3):
            state, fits = step(state, 1e-4 * k, (0, k))
        found.append((space, fit, state, fits[-1]))
    (host, first, state, fit), (blocked, first_there, state_there, fit_there) = found
    assert first_there.misfit == pytest.approx(first.misfit, rel=1e-3)
    assert first_there.size == pytest.approx(first.size, rel=1e-10)
    size = np.abs(host.values(state.theta)).max()
    np.testing.assert_allclose(
        host.values(state_there.theta), host.values(state.theta), atol=1e-7 * size
    )
    assert fit_there.misfit == pytest.approx(fit.misfit, rel=0.05, abs=1e-9)
    assert blocked.size(state_there.theta) == pytest.approx(host.size(state.theta), rel=1e-6)
    there, here = (s.measured(state.theta, 3e-4, [fit]) for s in (blocked, host))
    assert there == pytest.approx(here, rel=1e-6, abs=1e-10)


def test_many_steps_of_one_length_are_those_one_by_one():
    problem = PROBLEMS["heat-mixed"]
    _, space = spaces(problem)
    start = lambda points: initial_values(problem, points)
    theta = space.project(
        space.collocation.parameters.start, space.collocation.sampled(start), 0.0
    ).theta
    scheme = SCHEMES["radau5"]
    one, many = (
        scheme.prepare(space, 1e-3, many)(State(theta), 0.0)[0].theta for many in (False, True)
    )
    np.testing.assert_allclose(space.values(many), space.values(one), atol=1e-10)


def test_values_alone_may_be_fitted():
    problem = PROBLEMS["heat-mixed"]
    start = lambda points: initial_values(problem, points)
    host, blocked = spaces(problem)
    both = [s.project_inside(s.collocation.sampled(start)) for s in (host, blocked)]
    np.testing.assert_allclose(host.values(both[1]), host.values(both[0]), atol=1e-8)


def test_matrices_are_made_again_where_they_were_taken():
    problem = PROBLEMS["nonlinear"]
    _, space = spaces(problem)
    rng = np.random.default_rng(0)
    space.linearise(0.03, rng.normal(size=space.unknowns))
    _, other = spaces(problem)
    other.remember(space.memory())
    c = rng.normal(size=space.unknowns)
    np.testing.assert_array_equal(space.remainder(c, 0.04)[0], other.remainder(c, 0.04)[0])
    np.testing.assert_array_equal(space.remainder(c, 0.04)[1], other.remainder(c, 0.04)[1])


def test_a_condition_that_says_nothing_is_refused():
    problem = tb.Problem(
        domain=tb.Interval(0.0, 1.0),
        equation=tb.Heat(0.1),
        conditions={
            "left": tb.Dirichlet(0.0),
            "right": tb.Robin(a=lambda x: 0.0 * x[0], b=0.0, v=0.0),
        },
        initial=lambda x: x[0],
        t_end=0.1,
    )
    with pytest.raises(ProblemError, match="says nothing about u"):
        BlockedLinearSpace(EIGHT, *rows(problem))


def test_coefficients_that_are_not_finite_are_named():
    problem = tb.Problem(
        domain=tb.Interval(0.0, 1.0),
        equation=tb.Heat(lambda x: 1 / (x[0] - x[0])),
        conditions={"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        initial=lambda x: x[0],
        t_end=0.1,
    )
    with pytest.raises(NonFiniteError, match="linear part"):
        BlockedLinearSpace(EIGHT, *rows(problem))
