"""The time loop: what it keeps, and each of the ways it can end."""

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.equations import Equation, Heat, Source
from tengbc.fields import laplacian
from tengbc.outcome import Outcome
from tengbc.projection import Fit
from tengbc.schemes import EULER, RK4, AbstractScheme, RungeKutta
from tengbc.solver.march import Plan, march
from tengbc.solver.steps import GridSteps, TimeGrid, time_grid
from tengbc.spaces import AbstractSpace, State
from tengbc.timing import Deadline
from tests.solver.cases import MODES, heat, linear_space


def marched(problem, dt, t_end=0.1, *, tableau=EULER, amplitudes=(1.0,), keep_every=1, **arguments):
    space = linear_space(problem)
    theta = np.zeros(len(MODES) + 1)
    theta[: len(amplitudes)] = amplitudes
    steps, network = (
        GridSteps(time_grid(t_end, dt), keep_every),
        space.collocation.parameters.network,
    )
    return march(Plan(space, RungeKutta(tableau), steps, State(theta), network, {}), **arguments)


def test_to_the_end():
    """u = sin(πx) exp(−π²t), known to all of RK4's digits; every state kept, the last at T."""
    found = marched(heat(), 0.001, tableau=RK4)
    assert found.result and found.result.outcome is Outcome.DONE
    assert len(found.times) == len(found.thetas) == 101 and len(found.history) == 100
    assert found.times[-1] == found.history[-1].time == 0.1
    np.testing.assert_allclose(found.thetas[-1][0], np.exp(-(np.pi**2) * 0.1), rtol=1e-8)
    assert np.abs(found.thetas[-1][1:]).max() < 1e-10
    np.testing.assert_array_equal(found.state.theta, found.thetas[-1])


def test_some_states_are_kept_the_first_and_the_last_always():
    found = marched(heat(), 0.001, 0.01, keep_every=4)
    np.testing.assert_allclose(found.times, [0.0, 0.004, 0.008, 0.01], rtol=1e-14)
    assert [record.step for record in found.history] == list(range(1, 11))


@pytest.mark.parametrize("tableau", [EULER, RK4], ids=["euler", "rk4"])
def test_far_too_large_a_step_diverges(tableau):
    """The sixth mode grows by |1 − (6π)²Δt| ≈ 35 a step, or by more with RK4."""
    found = marched(heat(), 0.1, 2.0, tableau=tableau, amplitudes=[1.0] * 6)
    assert found.result.outcome is Outcome.DIVERGED and not found.result
    assert "the solution grew from" in found.result.message
    assert "smaller dt" in found.result.message
    assert found.times[-1] < 2.0
    assert all(np.isfinite(theta).all() for theta in found.thetas)


def test_backwards_diffusion_diverges():
    problem = heat(Equation(lambda u, x, t: -laplacian(u)(x)))
    found = marched(problem, 0.001, 0.2, amplitudes=[1.0] * 6)
    assert found.result.outcome is Outcome.DIVERGED


def test_a_source_may_set_the_size():
    """From zero to 2e5 is no divergence where the source is that large: units are the user's."""
    problem = heat(Heat(1.0) + Source(lambda x: 2e6 * jnp.sin(jnp.pi * x[0])), initial=0.0)
    found = marched(problem, 0.005, 0.5, amplitudes=(0.0,))
    assert found.result.outcome is Outcome.DONE
    np.testing.assert_allclose(found.thetas[-1][0], 2e6 / np.pi**2, rtol=0.01)


def test_nan_from_the_equation_keeps_the_state_before():
    bad = lambda u, x, t: jnp.where((t > 0.05) & (x[0] > 0.5), jnp.nan, laplacian(u)(x))
    found = marched(heat(Equation(bad)), 0.01)
    assert found.result.outcome is Outcome.NON_FINITE
    assert "The equation's right-hand side is not finite at t = 0.06, x = (" in found.result.message
    assert found.times[-1] == found.history[-1].time == pytest.approx(0.06)
    np.testing.assert_array_equal(found.state.theta, found.thetas[-1])


def test_a_callback_may_stop_it():
    seen = []

    def stop_at_third(record, state):
        seen.append((record.step, state.theta[0]))
        return record.step == 3

    found = marched(heat(), 0.01, keep_every=10, callbacks=[stop_at_third, lambda *_: None])
    assert found.result.outcome is Outcome.INTERRUPTED
    assert found.result.message == "stopped on request at t = 0.03 of 0.1."
    assert [step for step, _ in seen] == [1, 2, 3]
    # The state it was stopped at is kept, whatever keep_every says.
    assert found.times == [0.0, pytest.approx(0.03)]
    assert found.thetas[-1][0] == seen[-1][1]


def test_a_deadline_that_is_over_ends_the_march():
    found = marched(heat(), 0.1, deadline=Deadline(1e-9))
    assert found.result.outcome is Outcome.OUT_OF_TIME and found.times == [0.0]
    assert marched(heat(), 0.1, deadline=Deadline(1e4)).result


def test_every_callback_is_called_and_a_stop_at_the_end_is_no_interruption():
    calls = []
    callbacks = [lambda record, state: True, lambda record, state: calls.append(record.step)]
    found = marched(heat(), 0.1, callbacks=callbacks)
    assert found.result.outcome is Outcome.DONE and calls == [1]


class Scripted(AbstractSpace, AbstractScheme):
    """A space and a scheme in one, whose every step is written down beforehand."""

    name, order, explicit, one_step = "scripted", 1, True, True

    def __init__(self, *steps):
        self.steps = iter(steps)

    def values(self, theta):
        return theta[:, None]

    rates = project = None

    def size(self, theta):
        return float(theta[0])

    def measured(self, theta, t, fits):
        return {"fit_residual": fits[-1].misfit}

    def prepare(self, space, dt, many=False):
        return self.step

    def step(self, state, t, key):
        size, residual, *counts = next(self.steps)
        self.key = key
        accepted, rejected = counts or (1, 0)
        fit = Fit(np.zeros(3), residual, 1.0, 0.0, iterations=accepted, rejected=rejected)
        return State(np.full(3, size)), [fit]


def scripted(*steps):
    script = Scripted(*steps)
    grid = GridSteps(TimeGrid(1.0, len(steps)))
    found = march(Plan(script, script, grid, State(np.ones(3)), lambda theta: None, {}), 7)
    return found.result, script


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([(1.0, 0.4)], Outcome.DONE),
        ([(1.0, 0.0), (1e5, 0.0)], Outcome.DONE),
        ([(1.0, 0.0), (1e7, 0.0)], Outcome.DIVERGED),
        ([(1.0, 0.6)], Outcome.DIVERGED),
        ([(1.0, np.nan)], Outcome.DIVERGED),
        ([(np.nan, 0.0)], Outcome.DIVERGED),
        ([(np.inf, 0.0)], Outcome.DIVERGED),
        ([(1.0, 0.0), (np.nan, 0.0)], Outcome.DIVERGED),
    ],
)
def test_what_counts_as_lost(steps, outcome):
    result, script = scripted(*steps)
    assert result.outcome is outcome
    assert script.key == (7, len(steps))


def test_a_bad_fit_is_said_in_a_sentence():
    result, _ = scripted((1.0, 0.75))
    assert "leaves 75.0% of the solution unexplained" in result.message


MOVES, STANDS = (1.0, 0.01, 2, 3), (1.0, 0.01, 0, 5)


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ([STANDS] * 4, Outcome.DONE),
        ([STANDS] * 5, Outcome.STALLED),
        ([MOVES, *[STANDS] * 4, MOVES, *[STANDS] * 4], Outcome.DONE),
        ([MOVES, *[STANDS] * 5, MOVES], Outcome.STALLED),
        ([(1.0, 1e-9, 0, 5)] * 9, Outcome.DONE),  # at rest: there is nothing to fit
    ],
)
def test_parameters_that_stand_still_are_said(steps, outcome):
    result, _ = scripted(*steps)
    assert result.outcome is outcome
    if outcome is Outcome.STALLED:
        assert "no iteration made the fit better" in result.message
