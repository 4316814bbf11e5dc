"""Errors: relative L² per time, their largest, and over all times together."""

import numpy as np
import pytest

from tengbc.errors import NonFiniteError
from tengbc.reference import Reference
from tengbc.solution.measure import Truth
from tengbc.solution.summary import measure, summary
from tengbc.solver import solve
from tests.solver.cases import heat


def times_two(x, t):
    return 2 * x[0] * (1 + t)


def test_the_three_numbers():
    """u* = 2x(1 + t) and u = u* + t·x: relative error t / (2(1 + t)) at each time."""
    truth = Truth(heat(exact=times_two))
    assert truth.known and truth.points.shape == (1001, 1)
    found = truth.errors(lambda x, times: np.stack([x[:, 0] * (2 + 3 * t) for t in times]), 1.0)
    t = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose([time for time, _ in found.by_time], t, rtol=1e-15)
    np.testing.assert_allclose([e for _, e in found.by_time], t / (2 * (1 + t)), atol=1e-15)
    assert found.worst == pytest.approx(0.25)
    assert found.final == pytest.approx(0.25)
    assert found.full == pytest.approx(np.sqrt(np.sum(t**2) / np.sum(4 * (1 + t) ** 2)))


def test_the_worst_need_not_be_the_last():
    found = Truth(heat(exact=times_two)).errors(
        lambda x, times: np.stack([x[:, 0] * (2 + 2 * t + t * (1 - t)) for t in times]), 1.0
    )
    t = np.linspace(0.0, 1.0, 101)
    assert found.final == 0.0
    assert found.worst == pytest.approx(np.max(t * (1 - t) / (2 + 2 * t)))


def test_where_the_truth_is_zero_the_error_is_absolute():
    found = Truth(heat(exact=lambda x, t: 0 * x[0])).errors(
        lambda x, times: np.ones((len(times), len(x))), 1.0
    )
    assert found.worst == found.full == pytest.approx(np.sqrt(1001))


def test_against_a_reference():
    """Only stored times up to the end count, and only its own points."""
    x = np.linspace(0.1, 0.9, 9)[:, None]
    samples = np.stack([(1 + t) * x[:, 0] for t in (0.0, 0.5, 1.0)])
    truth = Truth(heat(reference=Reference(np.array([0.0, 0.5, 1.0]), x, samples)))
    found = truth.errors(lambda x, times: np.stack([(1 + 2 * t) * x[:, 0] for t in times]), 0.7)
    assert [time for time, _ in found.by_time] == [0.0, 0.5]
    assert found.by_time[-1][1] == pytest.approx(0.5 / 1.5)
    assert found.final is None and found.when == "measured at 2 times from t = 0 to 0.5"
    assert found.full == pytest.approx(np.sqrt(0.5**2 / (1 + 1.5**2)))
    np.testing.assert_array_equal(truth.points, x)


def test_a_start_that_is_known_is_no_measured_solution():
    """Values at t = 0 only: the error of the fit was once stated as that of the solution."""
    x = np.linspace(0.1, 0.9, 9)[:, None]
    truth = Truth(heat(reference=Reference(np.array([0.0, 1.0]), x, np.ones((2, 9)))))
    found = truth.errors(lambda x, times: np.full((len(times), len(x)), 1.1), 0.7)
    assert found.by_time == [(0.0, pytest.approx(0.1))]
    assert np.isnan(found.worst) and np.isnan(found.full) and found.final is None
    assert found.when == "not measured after t = 0"
    solution = solve(heat(reference=truth.problem.reference), 0.01, rtol=1e-3)
    content = summary(solution, measure(solution), {})
    assert [content[f"relative_l2_{k}"] for k in ("max", "full", "final")] == [None] * 3
    assert content["initial_fit_error"] is not None


def test_nothing_to_compare_with():
    truth = Truth(heat())
    assert not truth.known and truth.errors(lambda x, times: x, 1.0) is None


def test_an_exact_solution_that_is_not_finite_is_an_error():
    truth = Truth(heat(exact=lambda x, t: 1 / x[0]))
    with pytest.raises(NonFiniteError, match=r"The exact solution is not finite at t = 0, x = \(0"):
        truth.errors(lambda x, times: np.zeros((len(times), len(x))), 1.0)
