"""Times are multiples of the step, never sums of steps; the last is the end itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengbc.errors import UsageError
from tengbc.solver.steps import (
    AdaptedSteps,
    Pace,
    RepeatedSteps,
    StepGrading,
    TimeGrid,
    time_grid,
)


@pytest.mark.parametrize(
    ("end", "dt", "steps"),
    [
        (1.0, 0.1, 10),  # neither 0.1 nor 0.3 is what it looks like in binary
        (0.3, 0.1, 3),
        (2.1, 0.3, 7),  # 2.1 / 0.3 is a little more than 7, 0.3 / 0.1 a little less than 3
        (1.0, 5e-4, 2000),
        (2 * math.pi, math.pi / 50, 100),
        (1.0, 0.3, 4),
        (1.0, 0.999, 2),
        (1.0, 1.0, 1),
        (1.0, 7.0, 1),
        (1e-9, 1e-10, 10),
        (1e9, 1e7, 100),
    ],
)
def test_steps(end, dt, steps):
    times = time_grid(end, dt)
    assert times.steps == steps
    assert times.time(0) == 0.0 and times.time(steps) == end
    assert times.dt <= dt * (1 + 1e-11)


@given(st.floats(1e-6, 1e6), st.floats(1e-5, 1.0))
def test_the_last_time_is_exact_and_the_others_are_equispaced(end, part):
    times = time_grid(end, end * part)
    grid = np.array([times.time(n) for n in range(min(times.steps, 2000) + 1)])
    assert times.time(times.steps) == end
    assert times.dt <= end * part * (1 + 1e-11)
    expected = np.arange(len(grid)) * (end / times.steps)
    assert np.all(np.abs(grid - expected) <= 2 * np.spacing(expected))
    assert np.all(np.diff(grid) > 0)


def test_times_do_not_accumulate():
    """A sum of ten thousand steps of 1e-4 would miss 0.7 by 1e-13."""
    times = time_grid(1.0, 1e-4)
    assert times.time(7000) == 0.7 and times.time(10_000) == 1.0


@pytest.mark.parametrize("multiple", [1, 2, 7])
def test_a_number_of_steps_with_a_divisor(multiple):
    times = time_grid(1.0, 0.1, multiple)
    assert times.steps % multiple == 0 and 10 <= times.steps < 10 + multiple
    assert times.time(times.steps) == 1.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1"])
def test_refusals(bad, wrong_types):
    with pytest.raises(UsageError, match=r"t_end is .* positive and finite"):
        time_grid(bad, 0.1)
    with pytest.raises(UsageError, match=r"dt is .* positive and finite"):
        time_grid(1.0, bad)


def test_more_steps_than_anyone_can_wait_for():
    with pytest.raises(UsageError, match=r"dt is 1e-300, .* steps"):
        time_grid(1.0, 1e-300)
    with pytest.raises(UsageError, match="larger dt"):
        time_grid(1e300, 1e-300)


def test_a_grid_of_one_step():
    assert TimeGrid(2.0, 1).dt == 2.0


def test_a_grading_divides_the_first_steps_and_lands_on_every_time():
    found = time_grid(1.0, 0.04, grading=StepGrading.growing(0.025, 0.16))
    times = [found.time(n) for n in range(found.steps + 1)]
    lengths = [found.step(n) for n in range(found.steps)]
    np.testing.assert_allclose(np.diff(times), lengths, rtol=1e-12)
    assert times[0] == 0 and times[-1] == 1.0 and found.dt == 0.04
    allowed = 0.04 * np.minimum(1, (np.array(times[:-1]) + 0.025) / 0.16)
    assert (np.array(lengths) <= allowed * (1 + 1e-12)).all()
    assert (16 * np.array(lengths) >= allowed).all()  # no shorter than dividing by four makes them
    assert {round(0.04 / step, 9) for step in lengths} == {16, 4, 1}


def test_half_the_dt_halves_the_smallest_step_of_a_grading():
    grading = StepGrading.growing(0.003, 0.5)
    coarse, fine = (time_grid(2.0, dt, grading=grading) for dt in (0.1, 0.05))
    smallest = [min(c.step(n) for n in range(c.steps)) for c in (coarse, fine)]
    assert smallest[1] == pytest.approx(smallest[0] / 2)
    assert coarse.steps < fine.steps < 3 * coarse.steps


def test_a_slow_grading_changes_nothing_and_a_sudden_one_ends():
    assert time_grid(1.0, 0.1, grading=StepGrading.growing(10.0, 1.0)) == time_grid(1.0, 0.1)
    sudden = time_grid(1.0, 0.1, grading=StepGrading.growing(0.0, 1.0))
    assert sudden.step(0) == pytest.approx(0.1 / 2**20) and sudden.time(sudden.steps) == 1.0


def test_lengths_that_many_steps_have():
    equal = time_grid(1.0, 0.01)
    assert equal.repeated(99) == {0.01} and equal.repeated(100) == frozenset()
    graded = time_grid(1.0, 0.01, grading=StepGrading((0.0, 0.5, 0.51), (0.25, 0.25, 1.0)))
    lengths = [graded.step(n) for n in range(graded.steps)]
    assert graded.repeated(45) == set(lengths) and len(set(lengths)) == 2
    assert graded.repeated(60) == {min(lengths)}


def test_halving_a_grid_halves_every_step():
    grading = StepGrading((0.0, 0.3, 1.0), (0.05, 0.3, 1.0))
    for whole in (time_grid(2.0, 0.3, grading=grading), time_grid(2.0, 0.3)):
        fine = whole.halved()
        assert fine.steps == 2 * whole.steps and fine.time(fine.steps) == 2.0
        for n in range(whole.steps):
            assert fine.time(2 * n) == whole.time(n)
            assert fine.step(2 * n) == fine.step(2 * n + 1) == whole.step(n) / 2


# Steps as long as their errors allow.


def walk(steps: AdaptedSteps, error, most=100_000):
    """(t, Δt) of the steps taken and of those refused, for an error that is a function of both."""
    t, stored, pace, taken, refused = 0.0, 1, None, [], []
    for done in range(most):
        leg = steps.leg(done, stored, t, lambda: math.inf, pace)
        if leg is None:
            return taken, refused
        assert leg.count == 1 and leg.stored
        pace = Pace(leg.dt, error(t, leg.dt))
        if steps.refuses(t, pace):
            refused.append((t, leg.dt))
            continue
        taken.append((t, leg.dt))
        t, stored = leg.end, stored + 1
    raise AssertionError("the steps do not end")


@pytest.mark.parametrize("growth", [2, 4, 8])
@pytest.mark.parametrize("end", [1.0, 0.3, 2 * math.pi, 1e-7, 4e5])
def test_adapted_steps_land_on_the_end(end, growth):
    """The error asks for Δt = 0.01 at first and ten times that later on."""
    steps = AdaptedSteps(end, end / 16, 1e-5, 4, growth)
    allowed = lambda t: end * (0.01 + 0.09 * t / end)
    taken, _ = walk(steps, lambda t, dt: 1e-5 * (dt / allowed(t)) ** 4)
    times, lengths = np.array(taken).T
    assert times[0] == 0 and times[-1] + lengths[-1] == pytest.approx(end, rel=1e-15)
    np.testing.assert_allclose(np.diff(times), lengths[:-1], rtol=1e-9)
    assert steps.leg(len(taken), len(taken) + 1, end, lambda: math.inf, Pace(1.0, 0.0)) is None
    assert (lengths <= allowed(times) * (1 + 1e-9)).all()
    # No shorter than growth makes them, unless they have just begun to grow or are aligned.
    assert lengths.max() >= 0.05 * end / growth
    powers = np.log2(end / lengths)
    np.testing.assert_allclose(powers, np.round(powers), atol=1e-9)
    places = times / lengths
    np.testing.assert_allclose(places, np.round(places), atol=1e-6)
    ratios = lengths[1:] / lengths[:-1]
    np.testing.assert_allclose(ratios[ratios > 1], growth)


def test_the_last_time_is_the_end_to_the_last_bit():
    steps = AdaptedSteps(0.7, 0.1, 1.0, 4)
    t, done, leg = 0.0, 0, None
    while following := steps.leg(done, done + 1, t, lambda: 1.0, leg and Pace(leg.dt, 0.1)):
        leg, t, done = following, following.end, done + 1
    assert t == 0.7


def test_a_refused_step_is_taken_again_shorter():
    steps = AdaptedSteps(1.0, 0.25, 1e-4, 4)
    assert steps.refuses(0.0, Pace(0.25, 1.1e-4)) and not steps.refuses(0.0, Pace(0.25, 1e-4))
    for error in (1.01e-4, 1e-2, 1e8, math.inf, math.nan):
        leg = steps.leg(0, 1, 0.0, lambda: 1.0, Pace(0.25, error))
        assert leg.dt <= 0.125
    # The length by the error's power: 16 times too large is half the step, with some margin.
    assert steps.leg(0, 1, 0.0, lambda: 1.0, Pace(0.25, 5e-4)).dt == 0.125
    assert steps.leg(0, 1, 0.0, lambda: 1.0, Pace(0.25, 17e-4)).dt == 0.0625


def test_steps_grow_where_they_fit():
    steps = AdaptedSteps(1.0, 0.125, 1e-4, 4)
    calm = Pace(0.125, 1e-12)
    assert steps.leg(2, 3, 0.25, lambda: 1.0, calm).dt == 0.25
    assert steps.leg(1, 2, 0.125, lambda: 1.0, calm).dt == 0.125  # 0.125 is no multiple of 0.25
    # Not before they may be twice as long, with a margin, and not shorter unless one is refused.
    for error in (0.9e-4, 0.9e-4 / 16):
        assert steps.leg(2, 3, 0.25, lambda: 1.0, Pace(0.125, error)).dt == 0.125
    assert steps.leg(2, 3, 0.25, lambda: 1.0, Pace(0.125, 0.5e-4 / 16)).dt == 0.25
    # Four times, or as it was.
    steps = AdaptedSteps(1.0, 0.125, 1e-4, 4, growth=4)
    assert steps.leg(4, 5, 0.5, lambda: 1.0, calm).dt == 0.5
    assert steps.leg(2, 3, 0.25, lambda: 1.0, calm).dt == 0.125
    assert steps.leg(4, 5, 0.5, lambda: 1.0, Pace(0.125, 1e-4 / 100)).dt == 0.125


def test_until_a_layer_has_settled_errors_are_not_looked_at():
    steps = AdaptedSteps(1.0, 1 / 64, 1e-6, 4, settled=1 / 16)
    taken, refused = walk(steps, lambda t, dt: 1.0 if t < 1 / 16 else 1e-6 * (dt / 0.2) ** 4)
    early = [dt for t, dt in taken if t < 1 / 16]
    assert early == [1 / 64] * 4 and not [t for t, _ in refused if t < 1 / 16]
    assert max(dt for _, dt in taken) >= 1 / 8


def test_the_shortest_step_is_never_refused():
    steps = AdaptedSteps(1.0, 0.5, 1e-6, 4)
    assert not steps.refuses(0.0, Pace(2.0**-40, math.inf))
    assert steps.refuses(0.0, Pace(2.0**-39, math.inf))


def test_repeated_steps_are_those_of_the_march_before_to_the_last_bit():
    steps = AdaptedSteps(0.7, 0.05, 1e-6, 4)
    taken, _ = walk(steps, lambda t, dt: 1e-6 * (dt / (0.03 + 0.2 * t)) ** 4)
    ends = np.array([t for t, _ in taken[1:]] + [0.7])
    repeated = RepeatedSteps.of(0.7, ends)
    legs = [repeated.leg(k, k + 1, 0.0, lambda: 1.0, None) for k in range(len(ends) + 1)]
    assert legs.pop() is None
    assert [leg.dt for leg in legs] == [dt for _, dt in taken]
    assert [leg.end for leg in legs] == ends.tolist()


def test_doubled_steps_join_the_halves_of_a_longer_one():
    whole = 2**40
    parts = np.array([1, 1, 2, 4, 4, 4, 8, 8]) / 32
    doubled = RepeatedSteps.of(2.0, 2.0 * np.cumsum(parts)).doubled()
    lengths = np.diff([0, *doubled.ends]) / whole * 32
    # 2 has no other half behind it, and the third 4 begins where no 8 may begin.
    assert lengths.tolist() == [2, 2, 4, 8, 16]
    assert doubled.ends[-1] == whole and doubled.end == 2.0


def test_lengths_of_the_steps_that_lead_to_times():
    steps = RepeatedSteps.of(2.0, np.array([0.25, 0.5, 1.0, 1.5, 2.0]))
    times = np.array([0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 2.0])
    parts = steps.lengths(times) / steps.lengths(np.array([2.0]))
    np.testing.assert_array_equal(parts, [0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0])
    twice = steps.doubled().lengths(times) / steps.lengths(times)
    np.testing.assert_array_equal(twice, [2, 2, 2, 2, 2, 1, 2])
