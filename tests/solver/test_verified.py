"""The verified loop: the tolerance holds or is said not to, and the estimate can be trusted."""

from dataclasses import replace
from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.solver import verified
from tengbc.solver.strategies import features
from tengbc.solver.strategies.base import Blame
from tengbc.solver.strategies.features import FeatureResolution
from tengbc.solver.strategies.frozen_features import FrozenFeatures
from tests.solver.manufactured_problems import errors_at_stored_times, worst_error

ROUND_OFF = 1e-11
"""Errors below this are left out of comparisons: they depend on the last digits."""
NAMES = ("heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed", "transport")


@cache
def solved(name: str, rtol: float, strategy: str | None, seed: int = 0) -> tb.Solution:
    problem = tb.problems.get(name)
    return tb.solve(problem, rtol=rtol, strategy=strategy, seed=seed, throw=False)


FROZEN, LONG = "frozen-features", pytest.mark.long
SHORT = [
    ("heat-mixed", 1e-3, None),
    ("heat-mixed", 1e-6, None),
    ("transport", 1e-6, None),
    ("heat-mixed", 1e-3, FROZEN),
    ("heat-mixed", 1e-6, FROZEN),
    ("transport", 1e-6, FROZEN),
]
ALL = [(name, rtol, way) for name in NAMES for rtol in (1e-3, 1e-6, 1e-9) for way in (None, FROZEN)]
CASES = [*SHORT, *(pytest.param(*case, marks=LONG) for case in ALL if case not in SHORT)]


@pytest.mark.parametrize("name, rtol, strategy", CASES)
def test_the_tolerance_holds(name, rtol, strategy):
    """Smooth problems: they are all solved."""
    solution = solved(name, rtol, strategy)
    assert solution.result and worst_error(solution) <= rtol


@pytest.mark.parametrize("name, rtol, strategy", CASES)
def test_the_estimate_is_near_the_error(name, rtol, strategy):
    solution = solved(name, rtol, strategy)
    true, estimate = errors_at_stored_times(solution), solution.error_estimate
    counted = np.maximum(true, estimate) > ROUND_OFF
    assert counted.any()
    ratio = (estimate / true)[counted]
    assert np.mean((ratio >= 0.1) & (ratio <= 10)) >= 0.9
    assert np.isfinite(estimate).all() and len(estimate) == len(solution.times)


def test_steps_that_could_not_be_doubled_twice_do_not_tell_how_fast_errors_fall():
    """The last steps of this march are doubled once: their change is no measure of the order."""
    solution = solved("transport", 1e-8, None)
    assert worst_error(solution) / 3 <= solution.error_estimate.max() <= 3 * worst_error(solution)


def too_coarse():
    """A narrow peak and three features for it."""
    problem = tb.Problem(
        tb.Disk(1.0),
        tb.Heat(0.01),
        {"circle": tb.Neumann(0.0)},
        lambda x: jnp.exp(-30 * jnp.sum(x**2)),
    )
    return problem, {"strategy": FROZEN, "t_end": 0.1, "features": 30, "dt": 0.02}


def test_a_tolerance_that_is_not_reached_is_an_error_with_the_solution():
    problem, options = too_coarse()
    with pytest.raises(tb.ToleranceError, match=r"1\.0e-06 was asked for") as caught:
        tb.solve(problem, rtol=1e-6, **options)
    solution = caught.value.solution
    assert solution.result.outcome is tb.Outcome.TOLERANCE_NOT_REACHED
    assert solution.error_estimate.max() > 1e-6
    assert solution.times[-1] == 0.1 and np.isfinite(solution(np.zeros((1, 2)), 0.1)).all()
    quiet = tb.solve(problem, rtol=1e-6, throw=False, **options)
    assert quiet.result == solution.result
    # The same choices give the same bits.
    np.testing.assert_array_equal(quiet.thetas, solution.thetas)
    np.testing.assert_array_equal(quiet.error_estimate, solution.error_estimate)


def test_a_message_leaves_no_larger_error_out():
    """Early times are told apart, so that the largest of `error_estimate` is in the sentence."""
    solution = solved("heat-mixed", 1e-3, None)
    errors = np.full(len(solution.times), 1e-5)
    known = replace(solution, error_estimate=errors)
    assert verified._near_text(known, 1e-5, 0.1) == "near 1.0e-05"
    early = replace(solution, error_estimate=np.where(solution.times < 0.1, 1e-2, errors))
    said = verified._near_text(early, 1e-5, 0.1)
    assert said == "near 1.0e-05 from t = 0.1 on, and up to 1.0e-02 before,"


@pytest.mark.long
@pytest.mark.parametrize("name", ["heat-robin", "transport"])
def test_five_seeds_are_equally_good(name):
    errors = [worst_error(solved(name, 1e-6, FROZEN, seed)) for seed in range(5)]
    assert max(errors) <= 10 * min(errors)
    assert max(errors) <= 3e-6


def test_data_that_disagree_at_first_are_said_and_the_rest_is_good():
    """u₀ does not meet the condition, so the first instants cannot be resolved."""
    problem = tb.Problem(
        domain=tb.Disk(radius=1.0),
        equation=tb.Heat(kappa=0.1),
        conditions={"circle": tb.Robin(a=1.0, b=0.367, v=0.0)},
        initial=lambda x: jnp.exp(-4 * jnp.sum(x**2)),
    )
    with pytest.warns(UserWarning, match="initial values miss the condition on circle"):
        solution = tb.solve(problem, t_end=1.0, rtol=1e-6)
    assert solution.result and "move apart by 8.5e-02 at t = 0" in solution.result.message
    assert solution.error_estimate[solution.times >= 0.05].max() <= 1e-6
    points = problem.domain.interior(100).x
    values = solution(points, t=0.5)
    # u is radial, and heat only leaves.
    turned = points @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(solution(turned, t=0.5), values, atol=1e-6)
    assert values.min() > 0 and values.max() < 1


def stretched(size: float, shift: float) -> tb.Problem:
    """One problem in other units of length: κ in length², b in length."""
    place = np.array([shift, -2 * shift])
    domain = tb.Rectangle(tuple(place), tuple(place + size * np.array([1.0, 2.0])))

    def exact(x, t):
        y = (x - place) / size
        return jnp.exp(-0.125 * jnp.pi**2 * t) * jnp.cos(jnp.pi * y[0]) * jnp.cos(jnp.pi * y[1] / 2)

    robin = tb.Robin(1.0, 0.5 * size, lambda x, t: exact(x, t))
    still = tb.Neumann(0.0)
    conditions = {"left": robin, "right": robin, "bottom": still, "top": still}
    equation = tb.Heat(0.1 * size**2)
    return tb.Problem(domain, equation, conditions, lambda x: exact(x, 0.0), exact)


def test_neither_the_place_nor_the_size_of_the_domain_matters():
    choices = {"strategy": FROZEN, "t_end": 0.5, "features": 120, "dt": 0.05, "throw": False}
    here = worst_error(tb.solve(stretched(1.0, 0.0), **choices))
    assert here < 1e-4
    for size, shift in ((100.0, 0.0), (0.01, 0.0), (1.0, 100.0)):
        there = worst_error(tb.solve(stretched(size, shift), **choices))
        assert here / 10 <= there <= 10 * here, (size, shift)
        assert worst_error(tb.solve(stretched(size, shift), 0.5, rtol=1e-6)) <= 1e-6


def test_transport_does_not_become_unstable():
    """Two turns where the problem asks for one: the error grows with time, not exponentially."""
    problem = tb.problems.get("transport")
    solution = tb.solve(problem, t_end=2.0, rtol=1e-5, throw=False)
    assert solution.result
    errors = errors_at_stored_times(solution)
    half = len(errors) // 2
    assert errors[half:].max() <= 10 * errors[: half + 1].max()
    assert worst_error(solution) <= 3e-5


def test_explicit_schemes_are_damped_enough_to_be_stable():
    problem = tb.problems.get("heat-mixed")
    choices = {"strategy": FROZEN, "scheme": "heun", "dt": 5e-4, "features": 245}
    solution = tb.solve(problem, t_end=0.05, throw=False, **choices)
    assert worst_error(solution) < 1e-5


@pytest.mark.parametrize("strategy", [None, FROZEN])
def test_a_solution_that_has_faded_away_is_told_from_one_that_is_hard(strategy):
    """Relative to nothing no error is small: end earlier, rather than more features."""
    heat = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(1000.0),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: jnp.sin(jnp.pi * x[0]),
    )
    with pytest.raises(tb.ToleranceError, match=r"has fallen to .* of what it was.*end earlier"):
        tb.solve(heat, 1.0, rtol=1e-4, strategy=strategy)


COARSE = tb.Problem(
    tb.Interval(0.0, 1.0),
    tb.Heat(0.1),
    {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
    lambda x: jnp.sin(jnp.pi * x[0]),
)


@pytest.mark.parametrize("errors", [[1e-3, 1e-2], [1e-3, np.inf], [1e-2, 1e-3, 9e-4]])
def test_a_finer_resolution_that_is_worse_is_not_the_answer(monkeypatch, errors):
    def told(solution, *_):
        attempt = int(solution.facts["march"].split()[-1])
        return np.full(len(solution.times), errors[attempt - 1])

    monkeypatch.setattr(verified, "difference", told)
    solution = tb.solve(COARSE, 0.1, rtol=1e-4, strategy=FROZEN, throw=False)
    assert solution.error_estimate.max() == min(errors)
    assert solution.facts["march"] == f"answer {np.argmin(errors) + 1}"
    assert solution.result.outcome is tb.Outcome.TOLERANCE_NOT_REACHED
    assert f"{min(errors):.1e}" in solution.result.message


@pytest.mark.parametrize("which", [3, 4, 5], ids=["half steps", "answer", "companion"])
def test_a_finer_resolution_that_is_lost_leaves_the_one_before(monkeypatch, which):
    march, calls = verified.march, []

    def sometimes_lost(*arguments):
        calls.append(None)
        trajectory = march(*arguments)
        if len(calls) >= which:
            trajectory.result = tb.Result(tb.Outcome.DIVERGED, "lost on purpose.")
        return trajectory

    monkeypatch.setattr(verified, "march", sometimes_lost)
    monkeypatch.setattr(FrozenFeatures, "policy", replace(FrozenFeatures.policy, attempts=2))
    far = lambda answer, *_: np.full(len(answer.times), 1e-3)
    monkeypatch.setattr(verified, "difference", far)
    solution = tb.solve(COARSE, 0.1, rtol=1e-4, strategy=FROZEN, throw=False)
    assert solution.result.outcome is tb.Outcome.TOLERANCE_NOT_REACHED
    assert solution.facts["march"] == "answer 1"


def test_waves_between_rigid_walls_neither_grow_nor_fade():
    """Nothing damps what grows between too few points: 2.4 for each feature let it grow to 3e-4."""

    def rates(u, x, t):
        slope = tb.gradient(u)(x)
        return jnp.stack([-slope[1, 0] - slope[2, 1], -slope[0, 0], -slope[0, 1]])

    def exact(x, t):
        omega = jnp.sqrt(2.0) * jnp.pi
        (sx, sy), (cx, cy) = jnp.sin(jnp.pi * x), jnp.cos(jnp.pi * x)
        speed = jnp.sin(omega * t) / jnp.sqrt(2.0)
        return jnp.stack([jnp.cos(omega * t) * cx * cy, speed * sx * cy, speed * cx * sy])

    walls = lambda u, x, normal, t: jnp.dot(u(x)[1:], normal)
    domain = tb.Rectangle()
    conditions = {segment: walls for segment in domain.segments}
    problem = tb.Problem(domain, rates, conditions, lambda x: exact(x, 0.0), exact)
    solution = tb.solve(problem, 1.0, rtol=1e-5)
    assert worst_error(solution) < 1e-6
    true = errors_at_stored_times(solution)
    ratio = solution.error_estimate / true
    assert np.mean((ratio > 0.1) & (ratio < 10)) >= 0.9


def test_a_first_resolution_too_coarse_to_march_is_followed_by_a_finer_one():
    """Four dimensions and one digit: 96 features cannot even hold the first step."""
    box = tb.Box([0.0] * 4, [1.0] * 4)
    conditions = {segment: tb.Neumann(0.0) for segment in box.segments}
    exact = lambda x, t: jnp.exp(-0.1 * jnp.pi**2 * t) * jnp.cos(jnp.pi * x[0])
    problem = tb.Problem(box, tb.Heat(0.1), conditions, lambda x: exact(x, 0.0), exact)
    coarse = tb.solve(problem, 1.0, rtol=0.3, features=96, throw=False)
    assert coarse.result.outcome is tb.Outcome.DIVERGED
    solution = tb.solve(problem, 1.0, rtol=0.3, throw=False)
    assert solution.times[-1] == 1.0 and solution.facts["march"] != "answer 1"
    assert worst_error(solution) < 3 * solution.error_estimate.max() < 3


COARSEST = FeatureResolution(100, 0.1, 0)
TIMES = np.linspace(0.0, 1.0, 11)


def finer(resolution, in_time, in_space, order, graded):
    return FrozenFeatures().finer(resolution, Blame(TIMES, in_time, in_space), order, graded)


def test_features_grow_where_space_is_to_blame():
    found = finer(COARSEST, np.full(11, 0.1), 7.0, 9, True)
    assert found.features == 150 and found.seed != COARSEST.seed
    assert found.dt == COARSEST.dt and found.grading is None


@pytest.mark.parametrize("order, counted", [(2, 2), (9, 5)])
def test_steps_shrink_where_time_is_to_blame(order, counted):
    found = finer(COARSEST, np.full(11, 1e4), 0.1, order, True)
    assert (found.features, found.seed, found.grading) == (100, 0, None)
    assert 1e4 * (found.dt / COARSEST.dt) ** counted == pytest.approx(0.25)


def test_an_error_that_fades_asks_for_short_steps_at_first_only():
    fading = 1e4 * 0.1 ** np.arange(11)
    found = finer(COARSEST, fading, 0.1, 5, True)
    assert found.dt == COARSEST.dt and found.grading is not None
    asked = np.array([found.grading.part(t) for t in TIMES])
    assert (fading * asked**5 <= 0.25 * (1 + 1e-9)).all() and (np.diff(asked) >= 0).all()
    further = finer(found, np.full(11, 8.0), 0.1, 5, True)
    assert further.dt == pytest.approx(0.5 * found.dt)
    assert further.grading is not None
    assert further.grading.part(0.0) == pytest.approx(asked[0])
    equal = finer(COARSEST, fading, 0.1, 5, False)
    assert equal.grading is None and equal.dt == pytest.approx(asked[0] * COARSEST.dt)


def test_an_error_that_comes_late_makes_all_steps_before_it_as_short():
    late = np.where(TIMES > 0.5, 1e3, 1e-3)
    found = finer(COARSEST, late, 0.1, 5, True)
    assert found.grading is None and found.dt < 0.3 * COARSEST.dt


def test_both_are_refined_where_neither_or_both_are_to_blame():
    for in_time, in_space in ((0.9, 0.9), (32.0, 32.0)):
        found = finer(COARSEST, np.full(11, in_time), in_space, 5, True)
        assert found.features == 150 and found.dt < COARSEST.dt
    spilled = finer(COARSEST, np.full(11, 1e5), 2.0, 5, True)
    assert spilled.features == 100  # what a gross error in time leaves in space says nothing


@pytest.mark.parametrize("t_end", [0.1, 1.0, 30.0])
def test_the_time_to_solve_for_may_be_far_from_the_solutions_own(t_end):
    """Modes that fade in 0.1 and in 10: to t = 30 the first steps have to be short, others not."""

    def exact(x, t):
        slow, fast_one = jnp.exp(-0.01 * jnp.pi**2 * t), jnp.exp(-0.09 * jnp.pi**2 * t)
        return 2.0 + slow * jnp.cos(jnp.pi * x[0]) + fast_one * jnp.cos(3 * jnp.pi * x[0])

    ends = {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)}
    initial = lambda x: exact(x, 0.0)
    problem = tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(0.01), ends, initial, exact)
    solution = tb.solve(problem, t_end, rtol=1e-8)
    assert solution.result and worst_error(solution) < 2e-8
    assert len(solution.times) < 400


def test_of_a_long_march_as_many_states_are_kept_as_memory_allows(monkeypatch):
    choices = {"strategy": FROZEN, "features": 16, "dt": 1e-4, "throw": False}
    solution = tb.solve(COARSE, 0.15, **choices)
    assert len(solution.times) == 1501
    monkeypatch.setattr(features, "MOST_STATES", 1000)
    half = tb.solve(COARSE, 0.15, **choices)
    assert len(half.times) == 751
    monkeypatch.setattr(features, "MOST_NUMBERS", 100)
    few = tb.solve(COARSE, 0.15, **choices)
    assert len(few.times) == 101 and few.times[-1] == 0.15


@pytest.mark.parametrize(
    "most, choices",
    [(4000, {}), (4000, {"strategy": FROZEN}), (50, {"strategy": FROZEN, "dt": 0.02})],
    ids=["default", "frozen", "frozen, few states"],
)
def test_what_lies_between_stored_times_counts_in_a_march_of_many_steps(monkeypatch, most, choices):
    """An answer and a companion known at the same times would agree on what neither has seen."""
    monkeypatch.setattr(features, "ALL_STATES", most)
    monkeypatch.setattr(features, "MOST_STATES", most)

    def exact(x, t):
        return 2.0 + jnp.sin(20.0 * t + x[0])

    def rate(u, x, t):
        source = 20.0 * jnp.cos(20.0 * t + x[0]) + 0.1 * jnp.sin(20.0 * t + x[0])
        return 0.1 * tb.laplacian(u)(x) + source

    ends = dict.fromkeys(("left", "right"), tb.Dirichlet(exact))
    initial = lambda x: exact(x, 0.0)
    problem = tb.Problem(tb.Interval(0.0, 1.0), rate, ends, initial, exact)
    solution = tb.solve(problem, 8.0, rtol=1e-4, throw=False, **choices)
    times = (solution.times[:-1] + solution.times[1:]) / 2
    points = np.linspace(0.0, 1.0, 41)[:, None]
    truth = np.stack([problem.exact(points, float(t)) for t in times])
    missed = np.linalg.norm(solution.at_times(points, times) - truth, axis=1)
    worst = np.max(missed / np.linalg.norm(truth, axis=1))
    assert worst <= 3 * solution.error_estimate.max()
    assert bool(solution.result) == (most == 4000)
