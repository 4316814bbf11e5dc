"""What a stage asks on the boundary: the paper's data of its own time, or its own formula."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import NonFiniteError, UsageError
from tengbc.schemes import HEUN, RK4, RungeKutta, Tableau
from tengbc.spaces import NetworkSpace, State
from tengbc.spaces.stage_boundary import StageBoundary, StageFormula
from tests.orders.manufactured import solution, space_of

DT = 0.1


def exact_state(space: NetworkSpace, t: float) -> np.ndarray:
    """θ of the exact solution at time t."""
    collocation, theta = space.collocation, space.collocation.parameters.start
    target = collocation.problem.exact(collocation.interior.x, t)[:, None]
    for _ in range(8):
        theta = space.project(theta, target, t, (0,)).theta
    return theta


@pytest.mark.parametrize("name", ["heat-mixed", "heat-moving", "heat-radiation", "heat-disk"])
def test_formula_on_the_boundary_is_that_of_the_exact_solution(name):
    # From u*, whose L(u*) = ∂ₜu* at both times, the formula is u*(0) + Δt(¾ ∂ₜu*(0) + ¼ ∂ₜu*(s)).
    space, later = space_of(name), 0.3
    thetas = [exact_state(space, time) for time in (0.0, later)]
    weights, times = np.array([0.75 * DT, 0.25 * DT]), np.array([0.0, later])
    formula = StageFormula(thetas[0], np.stack(thetas), weights, times)
    found = StageBoundary(space.collocation)(formula, DT)

    def rate(x, t):
        return jax.jvp(lambda s: solution(x, s), (t,), (1.0,))[1]

    def w(x):
        return solution(x, 0.0) + DT * (0.75 * rate(x, 0.0) + 0.25 * rate(x, later))

    for points, values in zip(space.collocation.boundary, found, strict=True):
        residual = space.collocation.problem.conditions[points.segment].residual
        for x, normal, value in zip(points.x, points.normal, values, strict=True):
            expected = residual(w, jnp.asarray(x), jnp.asarray(normal), DT)
            assert value == pytest.approx(float(expected), abs=1e-11)


@pytest.mark.parametrize("name", ["heat-dirichlet", "heat-neumann", "heat-moving"])
def test_consistent_rows_can_all_be_met_at_once(name):
    space = space_of(name)
    state = State(exact_state(space, 0.0))
    stages = {
        data: RungeKutta(RK4, data).step(space, state, 0.0, DT, (0, 1))[1][:-1]
        for data in ("time", "consistent")
    }
    assert max(fit.residual for fit in stages["consistent"]) < 1e-12
    # The stages of an explicit scheme are of low order: they miss the solution on the boundary.
    assert max(fit.residual for fit in stages["time"]) > 1e-4


@pytest.mark.parametrize(("name", "same"), [("dirichlet", "consistent"), ("neumann", "time")])
def test_values_are_consistent_and_derivatives_of_their_time(name, same):
    space = space_of(f"heat-{name}")
    state = State(exact_state(space, 0.0))
    found = {
        data: RungeKutta(RK4, data).step(space, state, 0.0, DT, (0, 1))[0].theta
        for data in ("time", "consistent", "values")
    }
    np.testing.assert_array_equal(found["values"], found[same])
    assert not np.array_equal(found["time"], found["consistent"])


@pytest.mark.parametrize("stage_data", ["time", "consistent", "values"])
def test_the_step_ends_with_the_conditions_of_its_end(stage_data):
    space = space_of("heat-dirichlet")
    state = State(exact_state(space, 0.0))
    state, _ = RungeKutta(RK4, stage_data).step(space, state, 0.0, DT, (0, 1))
    for g in space.collocation.boundary_residual(state.theta, DT):
        assert np.abs(g).max() < 1e-4


def test_other_boundary_data_leave_the_collocation_as_it_was():
    collocation = space_of("heat-dirichlet").collocation
    theta, target = collocation.parameters.start, np.zeros((len(collocation.interior), 1))
    before = collocation.residual(theta, target, 0.0)
    wanted = [np.full((1, 1), 2.0), np.full((1, 1), 3.0)]
    after = collocation.with_boundary_data(wanted).residual(theta, target, 0.0)
    assert after[-2:] - before[-2:] == pytest.approx([2.0, 3.0])
    assert np.array_equal(collocation.residual(theta, target, 0.0), before)


@pytest.mark.usefixtures("wrong_types")
def test_unknown_stage_data_is_refused():
    with pytest.raises(UsageError, match="'time', 'consistent' or 'values'"):
        RungeKutta(HEUN, "exact")


def test_an_implicit_tableau_is_refused():
    implicit = Tableau("implicit midpoint", 2, a=((0.5,),), b=(1.0,), c=(0.5,))
    with pytest.raises(UsageError, match="implicit midpoint is implicit"):
        RungeKutta(implicit)


@pytest.mark.usefixtures("wrong_types")
def test_a_space_without_stage_data_is_refused():
    @dataclass
    class Plain:
        space: NetworkSpace

        def __getattr__(self, name):
            if name == "at_stage":
                raise AttributeError(name)
            return getattr(self.space, name)

    space = space_of("heat-dirichlet")
    with pytest.raises(UsageError, match="Plain cannot evaluate"):
        state = State(exact_state(space, 0.0))
        RungeKutta(HEUN, "consistent").step(Plain(space), state, 0.0, DT, (0, 1))


def test_a_formula_that_is_not_finite_names_the_segment():
    collocation = space_of("heat-dirichlet").collocation
    theta = collocation.parameters.start
    formula = StageFormula(theta, theta[None], np.array([np.nan]), np.zeros(1))
    with pytest.raises(NonFiniteError, match="condition on left"):
        StageBoundary(collocation)(formula, 0.0)
