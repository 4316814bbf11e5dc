"""The sweep for the best result in a given time."""

import numpy as np
import pytest

import tengbc as tb
from tengbc import problems

pytest.importorskip("skfem")

from tengbc.evidence.baselines.fem import BudgetError, FemSweep, best_fem, solve_fem, sweep_fem


@pytest.fixture(scope="module")
def measured():
    problem = problems.get("heat-robin")
    points, times = problem.domain.evaluation_grid(41), np.linspace(0, 1, 11)
    return problem, points, times, np.stack([problem.exact(points, t) for t in times])


def test_the_best_run_stays_in_its_time_and_beats_a_guess(measured):
    problem, points, times, truth = measured
    sweep = sweep_fem(problem, 1.0, 1.0, points, times, truth)
    best = sweep.best
    assert best.seconds <= 1.0 and all(trial.seconds <= 1.0 for trial in sweep.trials)
    assert best.error == min(trial.error for trial in sweep.trials) == best.by_time.max()
    assert best.error < 6e-4  # what resolution 16 gives in a tenth of the time
    # The run can be repeated from what it says of itself.
    again = solve_fem(
        problem, 1.0, resolution=best.resolution, dt=best.dt, times=times, scheme=best.scheme
    )
    gap = np.linalg.norm(again(points, 1.0) - truth[-1]) / np.linalg.norm(truth[-1])
    assert gap == pytest.approx(best.by_time[-1], rel=1e-6)


def test_nonlinear_problems_are_swept_with_their_own_scheme():
    problem = tb.Problem(
        tb.PeriodicBox((0.0, 0.0), (1.0, 1.0)),
        tb.AllenCahn(0.01),
        {},
        initial=lambda x: 0.5 + 0.0 * x[0],
        t_end=1.0,
    )
    points, times = problem.domain.evaluation_grid(5), np.array([0.5, 1.0])
    growth = lambda t: 1 / np.sqrt(1 + 3 * np.exp(-2 * t))  # u' = u − u³ from ½
    truth = np.stack([np.full(len(points), growth(t)) for t in times])
    best = best_fem(problem, 1.0, 0.3, points, times, truth)
    assert best.scheme in ("ars222", "ark4")
    assert best.error < 1e-3


def test_no_time_at_all(measured):
    problem, points, times, truth = measured
    with pytest.raises(BudgetError, match="allow more seconds"):
        best_fem(problem, 1.0, 1e-6, points, times, truth)
    with pytest.raises(BudgetError):
        FemSweep(1.0).best  # noqa: B018
