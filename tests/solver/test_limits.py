"""max_seconds: a run ends in time with the best that it has, and says how good that is."""

import time
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import tengbc as tb
from tengbc import journal, timing
from tengbc.costs import Cost
from tengbc.history import History
from tengbc.journal import NO_JOURNAL, NO_STAGE, NoJournal, Snapshot
from tengbc.options import options
from tengbc.outcome import Outcome, Result
from tengbc.patches.cells import Cell
from tengbc.projection import Fit
from tengbc.schemes import AbstractScheme
from tengbc.solution import Solution
from tengbc.solver import verified
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.steps import GridSteps, StepGrading, time_grid
from tengbc.solver.strategies.base import AbstractStrategy, Applies, Solved, Task
from tengbc.solver.strategies.deformed_waves import DeformedWavesStrategy, WaveResolution
from tengbc.solver.strategies.features import FACTORISING, PRODUCTS, FeatureResolution
from tengbc.solver.strategies.frozen_features import FrozenFeatures
from tengbc.solver.strategies.local_features import LocalFeatures, PatchResolution
from tengbc.solver.verified import Runner, solve_verified
from tengbc.spaces import AbstractSpace, State
from tengbc.timing import Deadline
from tests.faults.cases import PAPER, PROBLEMS
from tests.solver.cases import heat, linear_space

HEAT = heat()
NOTHING = (np.zeros(1),)
SECONDS = {"answer": 4.0, "companion": 8.0, "half steps": 8.0}
"""Of the marches of the first level, in four steps each; every next level takes three times that.
Its errors are 1e-2, 1e-4, …, so that two levels, in 4 + 8 + 8 + 12 + 24 = 56 s, give 1e-4."""


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when a step is taken; a march looks at it after every one."""
    clock = SimpleNamespace(now=0.0)
    told = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now)
    monkeypatch.setattr(timing, "time", told)
    monkeypatch.setattr(timing, "compile_clock", SimpleNamespace(seconds=0.0))
    monkeypatch.setattr(journal, "LOOK", 0.0)
    far = lambda answer, *_: np.full(len(answer.times), 1e-3)
    monkeypatch.setattr(verified, "difference", far)
    return clock


class Timed(AbstractSpace, AbstractScheme):
    """A space and a scheme whose steps do nothing but take their time."""

    name, order, explicit, one_step = "timed", 1, True, True
    rates = project = None

    def __init__(self, clock, seconds):
        self.clock, self.seconds = clock, seconds

    def values(self, theta):
        return theta[:, None]

    def size(self, theta):
        return 1.0

    def measured(self, theta, t, fits):
        return {}

    def prepare(self, space, dt, many=False):
        return self.step

    def step(self, state, t, key):
        self.clock.now += self.seconds
        return state, [Fit(state.theta, 0.0, 1.0, 0.0, iterations=1)]


@dataclass(frozen=True)
class Level:
    """A resolution: which one, and what for."""

    number: int
    kind: str = "answer"
    growth: ClassVar[int] = 3

    @property
    def seconds(self):
        return SECONDS[self.kind] * self.growth ** (self.number - 1)


class Levels(AbstractStrategy):
    """Levels whose seconds and errors are known beforehand."""

    name, what, honours = "levels", "a play", frozenset({"rtol"})
    compared = True
    """Whether there are companions and half steps."""

    def __init__(self, clock):
        self.clock, self.begun = clock, []

    def applies(self, problem):
        return Applies(True, "always")

    def first(self, task):
        return Level(1)

    def companions(self, answer):
        return {"companion": replace(answer.resolution, kind="companion")} if self.compared else {}

    def half_steps(self, resolution):
        return replace(resolution, kind="half steps") if self.compared else None

    def refine(self, task, resolution, trajectory, blame):
        return Level(resolution.number + 1)

    def work_ratio(self, task, solved, resolution):
        return resolution.seconds / solved.resolution.seconds

    def discretise(self, task, resolution):
        self.begun.append(f"{resolution.kind} {resolution.number}")
        timed = Timed(self.clock, resolution.seconds / 4)
        start = State(linear_space(HEAT).collocation.parameters.start)
        steps = GridSteps(time_grid(task.t_end, task.t_end / 4))
        return Plan(timed, timed, steps, start, lambda theta: None, {})

    def parameters(self, task, resolution, trajectory):
        return linear_space(HEAT).collocation.parameters, np.array(trajectory.thetas)

    def estimate(self, task, answer, companions, distance, layer):
        return np.full(len(answer.solution.times), 10.0 ** (-2 * answer.resolution.number))

    def cost(self, problem, options, t_end, speed):
        return Cost(1.0, 1.0, "nothing")


def played(clock, seconds, strategy=None, rtol=1e-4):
    """The solution and the names of the marches that were begun."""
    strategy = strategy or Levels(clock)
    nobody, chosen = lambda *known: None, options(t_end=1.0, rtol=rtol)
    found = solve_verified(strategy, HEAT, chosen, 1.0, nobody, (), NO_JOURNAL, Deadline(seconds))
    return found, strategy.begun


FIRST = ["answer 1", "companion 1"]
ALL = [*FIRST, "half steps 1", "answer 2", "companion 2"]


@pytest.mark.parametrize("seconds", [None, 56.5, 1e4])
def test_with_time_enough_all_is_done(clock, seconds):
    found, begun = played(clock, seconds)
    assert found.result and begun == ALL and clock.now == 56.0
    assert found.error_estimate.max() == 1e-4 and found.facts["march"] == "answer 2"


def test_a_first_answer_that_is_not_finished_is_returned_as_far_as_it_came(clock):
    found, begun = played(clock, 2.5)
    assert begun == ["answer 1"] and clock.now == 3.0  # the step at hand is the last
    assert found.result.outcome is Outcome.OUT_OF_TIME
    assert found.times.tolist() == [0.0, 0.25, 0.5, 0.75]
    assert np.isnan(found.error_estimate).all()
    assert found.result.message == (
        "the march came to t = 0.75 of 1; max_seconds were over: give more, or ask for less."
    )


@pytest.mark.parametrize(
    ("seconds", "begun", "ended"),
    [(3.5, FIRST[:1], 4.0), (5.0, FIRST, 6.0), (9.5, FIRST, 10.0)],
)
def test_an_answer_without_its_companion_has_no_known_error(clock, seconds, begun, ended):
    found, marches = played(clock, seconds)
    assert marches == begun and clock.now == ended
    assert found.result.outcome is Outcome.OUT_OF_TIME and found.times[-1] == 1.0
    assert np.isnan(found.error_estimate).all() and len(found.error_estimate) == len(found.times)
    assert found.result.message == (
        "the error is not known where 1.0e-04 was asked for; max_seconds were over before more was "
        "finished: give more, or ask for a larger rtol."
    )


@pytest.mark.parametrize(
    ("seconds", "begun", "needed", "left"),
    [
        (12.5, FIRST, "20", "0.5"),  # half steps, and no less than the first level again
        (31.5, FIRST, "20", "20"),
        (32.5, ALL[:3], "36", "12"),  # the second level
        (55.5, ALL[:3], "36", "36"),
    ],
)
def test_no_resolution_is_begun_that_cannot_be_finished(clock, seconds, begun, needed, left):
    found, marches = played(clock, seconds)
    assert marches == begun and clock.now <= seconds
    assert found.result.outcome is Outcome.OUT_OF_TIME and found.times[-1] == 1.0
    assert found.error_estimate.max() == 1e-2
    assert found.result.message == (
        f"the error is near 1.0e-02 where 1.0e-04 was asked for; a finer resolution takes some "
        f"{needed} s, and of max_seconds {left} are left: give more, or ask for a larger rtol."
    )


class Hopeful(Levels):
    """Takes finer levels for no more work, as a strategy does that says nothing."""

    work_ratio = AbstractStrategy.work_ratio


@pytest.mark.parametrize(
    ("growth", "begun", "ended"), [(3, ALL, 38.0), (10, ALL[:4], 40.0)], ids=["companion", "answer"]
)
def test_a_resolution_that_takes_longer_than_expected_is_ended(
    clock, monkeypatch, growth, begun, ended
):
    monkeypatch.setattr(Level, "growth", growth)
    found, marches = played(clock, 33.0, Hopeful(clock))
    assert marches == begun and clock.now == ended
    assert found.result.outcome is Outcome.OUT_OF_TIME and found.facts["march"] == "answer 1"
    assert found.error_estimate.max() == 1e-2
    assert "near 1.0e-02 where 1.0e-04 was asked for; max_seconds were over" in str(found.result)


def test_half_steps_that_take_longer_are_ended_too(clock, monkeypatch):
    monkeypatch.setitem(SECONDS, "half steps", 400.0)
    found, marches = played(clock, 60.0, Hopeful(clock))
    assert marches == ALL[:3] and clock.now == 112.0
    assert found.error_estimate.max() == 1e-2 and "max_seconds were over" in str(found.result)


class Alone(Levels):
    """Each level is compared with the one before."""

    compared = False


@pytest.mark.parametrize(("growth", "needed"), [(3, "12"), (10, "40")])
def test_a_resolution_that_nothing_was_compared_with_has_no_known_error(
    clock, monkeypatch, growth, needed
):
    monkeypatch.setattr(Level, "growth", growth)
    found, marches = played(clock, 14.0, Alone(clock))
    assert marches == ALL[:1] and clock.now == 4.0
    assert found.facts["march"] == "answer 1" and np.isnan(found.error_estimate).all()
    assert (
        f"not known where 1.0e-04 was asked for; a finer resolution takes some {needed} s"
        in str(found.result)
    )


def test_levels_that_are_compared_with_each_other_are_done_in_time(clock):
    found, marches = played(clock, 16.5, Alone(clock))
    assert found.result and marches == ["answer 1", "answer 2"]


class HopefulAlone(Alone, Hopeful):
    """Both."""


def test_a_second_level_that_is_ended_leaves_the_first(clock):
    found, marches = played(clock, 9.0, HopefulAlone(clock))
    assert marches == ["answer 1", "answer 2"] and clock.now == 10.0
    assert found.facts["march"] == "answer 1" and found.times[-1] == 1.0
    assert np.isnan(found.error_estimate).all() and "max_seconds were over" in str(found.result)


def test_a_tolerance_that_is_reached_as_time_is_over_is_reached(clock):
    found, _ = played(clock, 10.5, rtol=1e-2)  # the last step ends at 12
    assert found.result and clock.now == 12.0 and found.error_estimate.max() == 1e-2


class Sessions(NoJournal):
    """A journal that knows of marches before: one begun, one finished."""

    def stage(self, name, over=journal.never):
        done = {"begun": False, "done": True}
        before = Snapshot(finished=done[name]) if name in done else None
        return Before(name, seconds_before=3.0 if before else 0.0, before=before)


@dataclass(frozen=True)
class Before(type(NO_STAGE)):
    """A stage that recalls."""

    before: Snapshot | None = None

    def recall(self):
        return self.before


def test_what_is_expected_is_computing_times_work_and_compiling_once(monkeypatch):
    monkeypatch.setattr(FrozenFeatures, "work_ratio", lambda self, task, solved, other: 2.0)
    run = Runner(FrozenFeatures(), task_for(HEAT, Sessions()))
    like = solved(None, seconds=(5.0, 1.0))
    expected = [run.expected(like, None, name) for name in ("new", "begun", "done")]
    assert expected == [11.0, 8.0, 0.0]


def task_for(problem, journal=NO_JOURNAL):
    return Task.of(problem, options(rtol=1e-4), 1.0, lambda *known: None, journal)


def solved(resolution, thetas=NOTHING, seconds=(1.0, 0.0)):
    """A resolution as if it had been marched with these states."""
    trajectory = Trajectory.begun(State(thetas[0]))
    trajectory.thetas = list(thetas)
    trajectory.times = np.linspace(0.0, 1.0, len(thetas)).tolist()
    parameters = linear_space(HEAT).collocation.parameters
    states = np.zeros((1, len(parameters)))
    solution = Solution(HEAT, parameters, np.zeros(1), states, Result(Outcome.DONE), History())
    return Solved(resolution, trajectory, solution, *seconds)


def test_without_a_word_from_the_strategy_it_is_as_much_work_again():
    task, coarse = task_for(HEAT), FeatureResolution(100, 0.1, 0)
    like = solved(coarse)
    assert AbstractStrategy.work_ratio(FrozenFeatures(), task, like, coarse) == 1.0


def test_the_work_of_features():
    """n³ for each length of steps, n² for each step."""
    task, coarse = task_for(HEAT), FeatureResolution(100, 0.1, 0)
    ratio = lambda other: FrozenFeatures().work_ratio(task, solved(coarse), other)
    assert ratio(coarse) == 1
    matrices, steps = FACTORISING * 100, 10 * PRODUCTS
    half = (matrices + 2 * steps) / (matrices + steps)
    assert ratio(coarse.with_half_steps()) == pytest.approx(half)
    more = 4 * (2 * matrices + steps) / (matrices + steps)
    assert ratio(replace(coarse, features=200)) == pytest.approx(more)
    graded = replace(coarse, grading=StepGrading((0.0, 0.05), (0.25, 1.0)))
    count = graded.grid(1.0).steps
    two = (2 * matrices + count * PRODUCTS) / (matrices + steps)
    assert count > 10 and ratio(graded) == pytest.approx(two)


@pytest.mark.parametrize(("name", "power"), [("heat", 1.0), ("square", 1.5)])
def test_the_work_of_patches(monkeypatch, name, power):
    monkeypatch.setattr(LocalFeatures, "stages", lambda self, task: 3)
    problem = PROBLEMS(name)
    cells = [Cell(2, (k,) * problem.domain.dim) for k in range(4)]
    coarse, fine = (PatchResolution(tuple((c, 3) for c in cells[:n]), 1e-4) for n in (1, 4))
    like, task = solved(coarse), task_for(problem)
    ratio = lambda other: LocalFeatures().work_ratio(task, like, other)
    assert ratio(fine) == pytest.approx(4**power)
    # Three stages: the error that is looked at goes with the fourth power of a step.
    assert ratio(replace(coarse, step_tolerance=1e-8)) == pytest.approx(10.0)


def test_the_work_of_waves():
    """Twice the points: twice the work in a step, and four times the steps for stability."""
    theta = np.zeros(2 * 2 * 11 + 1)  # 32 points hold 11 waves, sines and cosines, of φ and of u
    like, task = (
        solved(WaveResolution(1e-3, 0.1), [theta] * 2),
        task_for(PROBLEMS("steepening")),
    )
    ratio = lambda points, step: DeformedWavesStrategy().work_ratio(
        task, like, WaveResolution(1e-4, step, ((0.0, points),))
    )
    assert WaveResolution(1e-4, 0.1, ((0.0, 48),)).least(0.5) == 64
    assert ratio(48, 0.05) == pytest.approx(8.0)
    assert ratio(48, 0.1 / 5) == pytest.approx(10.0)


def test_solve_returns_what_there_is_and_warns(clock):
    """An explicit rtol does not make it raise: who sets a limit wants what there is by then."""

    def slow(record, state):
        clock.now += 1.0

    choices = {"strategy": "frozen-features", "dt": 0.01, "features": 12, "rtol": 1e-8}
    choices |= {"t_end": 0.1, "callbacks": [slow]}
    with pytest.warns(UserWarning, match=r"^out of time: the march came to t = 0.06 of 0.1; max"):
        found = tb.solve(HEAT, max_seconds=4.5, **choices)
    assert found.result.outcome is Outcome.OUT_OF_TIME
    np.testing.assert_allclose(found.times, 0.01 * np.arange(7))
    x = np.linspace(0.1, 0.9, 9)[:, None]
    truth = np.exp(-(np.pi**2) * 0.06) * np.sin(np.pi * x[:, 0])
    np.testing.assert_allclose(found(x, 0.06), truth, atol=1e-4)
    quiet = tb.solve(HEAT, max_seconds=4.5, throw=False, **choices)
    assert quiet.result == found.result
    np.testing.assert_array_equal(quiet.thetas, found.thetas)


def test_an_initial_fit_ends_too():
    """And is not taken for finished: the march does not begin."""
    endless = PAPER | {"fit_iterations": 10_000_000, "widths": (30, 30)}
    began = time.perf_counter()
    found = tb.solve(PROBLEMS("heat"), throw=False, **endless, max_seconds=1.0)
    assert time.perf_counter() - began < 20.0
    assert found.result.outcome is Outcome.OUT_OF_TIME and found.times.tolist() == [0.0]
