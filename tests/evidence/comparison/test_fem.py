"""Finite elements as a careful user would run them in a given time."""

import jax.numpy as jnp
import pytest

import tengbc as tb
from tengbc import problems

pytest.importorskip("skfem")

from tengbc.evidence.baselines.fem import solve_fem
from tengbc.evidence.comparison.compare import compare
from tengbc.evidence.comparison.contenders.fem import SHARES
from tengbc.solution.measure import Truth


def test_the_best_run_stays_in_its_time_and_beats_a_guess():
    problem = problems.get("heat-robin")
    [found] = compare(problem, ["fem"], 1.0)
    best = found.best
    assert best is not None and best.errors.worst < 6e-4  # resolution 16, in a tenth of the time
    assert len(found.trials) <= len(SHARES) and all(trial.seconds <= 1.0 for trial in found.trials)
    assert best.errors.worst == min(trial.errors.worst for trial in found.trials)
    # The run can be repeated from what it says of itself.
    resolution, scheme, steps = best.setting.split(", ")
    again = solve_fem(
        problem,
        1.0,
        resolution=int(resolution.split()[1]),
        dt=1 / int(steps.split()[0]),
        times=Truth(problem).times(1.0),
        scheme=scheme,
    )
    errors = Truth(problem).errors(again.at_times, 1.0)
    assert errors is not None and errors.final == pytest.approx(best.errors.final, rel=1e-6)


def test_nonlinear_problems_have_their_own_schemes():
    def exact(x, t):  # u' = u − u³ from ½
        return 1 / jnp.sqrt(1 + 3 * jnp.exp(-2 * t)) + 0.0 * x[0]

    problem = tb.Problem(
        tb.PeriodicBox((0.0, 0.0), (1.0, 1.0)),
        tb.AllenCahn(0.01),
        {},
        initial=lambda x: 0.5 + 0.0 * x[0],
        exact=exact,
        t_end=1.0,
    )
    [found] = compare(problem, ["fem"], 3.0)
    best = found.best
    assert best is not None and best.errors.worst < 1e-3
    assert best.setting.split(", ")[1] in ("ars222", "ark4")


def test_no_time_at_all():
    [found] = compare(problems.get("heat-robin"), ["fem"], 1e-6)
    assert not found.trials and "no run was finished within 1e-06 s" in found.reason
