"""The time loop, what it leaves behind, and nothing numerical."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, NonFiniteError, OutputError
from tengbc.history import History, Record
from tengbc.journal import NO_STAGE, Snapshot, Stage
from tengbc.networks import Network
from tengbc.outcome import Outcome, Result, unwritten
from tengbc.problem import Problem
from tengbc.projection import Fit
from tengbc.schemes.base import AbstractScheme, Key, Step
from tengbc.solver.steps import Leg, Pace, StepController
from tengbc.spaces import AbstractSpace, State
from tengbc.timing import NO_DEADLINE, Deadline
from tengbc.types import Progress

Array = np.ndarray
LARGEST_MISFIT = 0.5
"""A fit that leaves more than this part of the solution has lost it."""
LARGEST_GROWTH = 1e6
"""A solution that grows by more than this factor within a run is lost."""
STALLED_STEPS = 5
"""Steps in a row without one accepted iteration, after which a march is over."""
AT_REST = 1e-8
"""A smaller misfit is no sign of a stall: the solution may simply no longer change."""
MOST_PREPARED = 2
"""Prepared step lengths that are kept; steps that grow do not come back to an earlier one."""
ERROR_INTERVAL = 2.0
"""Seconds between two looks at the true error; a march that takes less is not looked at."""
ERROR_POINTS = 512

Callback = Callable[[Record, State], bool | None]
"""Called after every leg; returning True asks the march to stop there."""


@dataclass(frozen=True)
class Plan:
    """A march ready to go: all decisions made, the initial condition fitted.

    `network` gives the network of a θ; `facts` are what the solution tells of its making.
    `failure` says why the march must not begin; then `start` is as far as the fit came.
    """

    space: AbstractSpace
    scheme: AbstractScheme
    steps: StepController
    start: State
    network: Callable[[Float[Array, " p"]], Network]
    facts: dict[str, object]
    failure: Result | None = None


@dataclass
class Trajectory:
    """The last state, the states that were kept, a record per leg, and how it ended.

    `usual_size` is the size of the solution at the start, by which growth is judged; `still` counts
    the last steps that left the parameters as they were. States may differ in length, where
    features are added during a march.
    """

    result: Result
    state: State
    t: float = 0.0
    times: list[float] = field(default_factory=list)
    thetas: list[Float[Array, " p"]] = field(default_factory=list)
    history: History = field(default_factory=History)
    usual_size: float = 0.0
    still: int = 0
    steps: int = 0
    pace: Pace | None = None

    @classmethod
    def begun(cls, state: State, usual_size: float = 0.0, expected: int = 1) -> Trajectory:
        """A march at its start."""
        empty = History(expected=expected)
        return cls(Result(Outcome.DONE), state, 0.0, [0.0], [state.theta], empty, usual_size)

    def keep(self) -> None:
        """Keep the last state, unless it is kept already, and the stages that led to it."""
        if self.times[-1] != self.t:
            for time, theta in self.state.stages:
                self.times.append(time)
                self.thetas.append(theta)
            self.times.append(self.t)
            self.thetas.append(self.state.theta)

    def snapshot(
        self, space: AbstractSpace, facts: dict | None = None, finished: bool = False
    ) -> Snapshot:
        """θ and the scheme's history, the kept states, the records, what the space remembers."""
        arrays = {
            "theta": self.state.theta,
            **{f"past.{k}": array for k, array in enumerate(self.state.history)},
            "times": np.array(self.times),
            "thetas": np.concatenate(self.thetas),
            "lengths": np.array([len(theta) for theta in self.thetas]),
            "history": self.history.table,
            **{f"space.{name}": array for name, array in space.memory().items()},
        }
        known = {
            "t": self.t,
            "measured": list(self.history.names),
            "usual_size": self.usual_size,
            "still": self.still,
            "steps": self.steps,
            "pace": None if self.pace is None else [self.pace.dt, self.pace.error],
            **(facts or {}),
        }
        return Snapshot(arrays, known, finished)


def trajectory_of(
    snapshot: Snapshot, space: AbstractSpace | None = None, expected: int = 1
) -> Trajectory:
    """The march that a snapshot holds, with room for `expected` records; restores the space too."""
    arrays, facts = snapshot.arrays, snapshot.facts
    past = []
    while (name := f"past.{len(past)}") in arrays:
        past.append(arrays[name])
    if space is not None:
        space.remember({n[6:]: array for n, array in arrays.items() if n.startswith("space.")})
    ends = np.cumsum(arrays["lengths"])[:-1]
    return Trajectory(
        Result(Outcome.DONE),
        State(arrays["theta"], tuple(past)),
        facts["t"],
        arrays["times"].tolist(),
        np.split(arrays["thetas"], ends),
        History.of_table(facts["measured"], arrays["history"], expected),
        facts["usual_size"],
        facts["still"],
        facts["steps"],
        None if facts["pace"] is None else Pace(*facts["pace"]),
    )


def march(
    plan: Plan,
    seed: int = 0,
    callbacks: Sequence[Callback] = (),
    stage: Stage = NO_STAGE,
    watch: Callable[[Trajectory], object] = lambda trajectory: None,
    deadline: Deadline = NO_DEADLINE,
) -> Trajectory:
    """Step from t = 0 to the end, watching for divergence, NaN and requests to stop.

    Where `stage` recalls an earlier march, that one goes on. `watch` is told of the progress. The
    clock is looked at after a leg: once the deadline is over, the leg at hand is the last.
    """
    if plan.failure is not None:
        return replace(Trajectory.begun(plan.start), result=plan.failure)
    before, expected = stage.recall(), plan.steps.expected
    if before is None:
        trajectory = Trajectory.begun(plan.start, plan.space.size(plan.start.theta), expected)
    else:
        trajectory = trajectory_of(before, plan.space, expected)
    try:
        legs = _March(plan, seed, callbacks, stage, watch, deadline)
        trajectory.result = legs.run(trajectory)
    except OutputError as error:
        trajectory.result = unwritten(error)
    return trajectory


class _March:
    """The loop over legs; each ends with the trajectory in a state that could be taken up."""

    def __init__(
        self,
        plan: Plan,
        seed: int,
        callbacks: Sequence[Callback],
        stage: Stage,
        watch: Callable[[Trajectory], object],
        deadline: Deadline,
    ):
        self.plan, self.space, self.seed = plan, plan.space, seed
        self.callbacks, self.stage, self.watch = callbacks, stage, watch
        self.deadline = deadline
        self._interval, self._looked = stage.interval, -np.inf
        self._noted = self._offered = 0
        self._prepared: dict[float, Step] = {}

    def run(self, trajectory: Trajectory) -> Result:
        """All legs that are left."""
        self._offered = len(trajectory.history)  # what was recalled is written down already
        if self._look(trajectory):
            return self._stopped(trajectory)
        while True:
            try:
                leg = self._leg(trajectory)
            except NonFiniteError as error:
                return self._ended(trajectory, Result(Outcome.NON_FINITE, str(error)))
            except DivergedError as error:
                return self._ended(trajectory, Result(Outcome.DIVERGED, str(error)))
            if leg is None:
                return self._ended(trajectory, Result(Outcome.DONE))
            last = leg.end >= self.plan.steps.end
            stopping = self._look(trajectory)
            asked = any([call(trajectory.history[-1], trajectory.state) for call in self.callbacks])
            if trajectory.still >= STALLED_STEPS:
                return self._ended(trajectory, Result(Outcome.STALLED, _stall_text(leg.end)))
            if (asked or stopping) and not last:
                return self._stopped(trajectory)

    def _leg(self, trajectory: Trajectory) -> Leg | None:
        """Steps of one length and what comes of them; None if there is nothing left to do."""
        space, t, done = self.space, trajectory.t, len(trajectory.history)
        theta = space.adapt(trajectory.state.theta, t)
        longest = lambda: space.longest_step(theta, t)
        before, key = replace(trajectory.state, theta=theta), (self.seed, done + 1)
        while True:
            leg = self.plan.steps.leg(done, len(trajectory.times), t, longest, trajectory.pace)
            if leg is None:
                return None
            try:
                state, fits = self._advance(before, t, leg, key, self.plan.steps.halvings)
            except DivergedError:
                trajectory.pace = Pace(leg.dt, np.inf)
                if not self.plan.steps.refuses(t, trajectory.pace):
                    raise
                continue
            trajectory.pace = Pace(leg.dt, max((fit.step_error for fit in fits), default=0.0))
            if not self.plan.steps.refuses(t, trajectory.pace):
                break
        size = space.size(state.theta)
        if done == 0:
            # Sources and boundary values may be what sets the size: the first step shows it.
            trajectory.usual_size = max(trajectory.usual_size, size, 1e-3)
        lost = _lost(size, fits, trajectory.usual_size, leg.end)
        if lost is not None:
            raise DivergedError(lost)
        measured = space.measured(state.theta, leg.end, fits)
        trajectory.history.append(Record(done + 1, leg.end, measured))
        trajectory.state, trajectory.t = state, leg.end
        trajectory.steps += leg.count
        trajectory.still = trajectory.still + 1 if _stands_still(fits) else 0
        if leg.stored:
            trajectory.keep()
        return leg

    def _advance(
        self, state: State, t: float, leg: Leg, key: Key, halvings: int
    ) -> tuple[State, list[Fit]]:
        """The steps of a leg; one that fails is taken as two of half the length."""
        try:
            step, fits = self._step(leg.dt, leg.many), []
            for k in range(leg.count):
                state, fits = step(state, t + k * leg.dt, key)
            return state, fits
        except DivergedError:
            if not halvings:
                raise
        half = replace(leg, dt=leg.dt / 2)
        for k in range(2):
            then = t + k * half.dt
            state = replace(state, theta=self.space.adapt(state.theta, then))
            state, fits = self._advance(state, then, half, key, halvings - 1)
        return state, fits

    def _step(self, dt: float, many: bool) -> Step:
        """The step of that length, prepared once."""
        if dt not in self._prepared:
            while len(self._prepared) >= MOST_PREPARED:
                del self._prepared[next(iter(self._prepared))]
            self._prepared[dt] = self.plan.scheme.prepare(self.space, dt, many)
        return self._prepared[dt]

    def _look(self, trajectory: Trajectory, at_once: bool = False) -> bool:
        """Now and then: lines of history, a checkpoint if it is time, progress, a wish to stop."""
        now, done = time.monotonic(), len(trajectory.history)
        if done > 2 and not at_once and now - self._looked < self._interval:
            return False
        self._looked = now
        for record in trajectory.history[self._noted :]:
            self.stage.note(record)
        if done > self._offered:
            self.watch(trajectory)
        stopping = self.stage.stopping or self.deadline.over
        if done > self._offered:  # after the question: where the march stops, its state is offered
            self.stage.offer(lambda: trajectory.snapshot(self.space))
        self._noted = self._offered = done
        return stopping

    def _ended(self, trajectory: Trajectory, result: Result) -> Result:
        self._look(trajectory, at_once=True)
        return result

    def _stopped(self, trajectory: Trajectory) -> Result:
        trajectory.keep()
        reached = f"t = {trajectory.t:.6g} of {self.plan.steps.end:g}"
        result = Result(Outcome.INTERRUPTED, f"stopped on request at {reached}.")
        if self.deadline.over:
            text = (
                f"the march came to {reached}; max_seconds were over: give more, or ask for less."
            )
            result = Result(Outcome.OUT_OF_TIME, text)
        return self._ended(trajectory, result)


def _stands_still(fits: Sequence[Fit]) -> bool:
    """Whether no fit of a step moved the parameters, though they had some way to go."""
    moved = any(fit.iterations for fit in fits)
    return not moved and any(fit.rejected for fit in fits) and fits[-1].misfit > AT_REST


def _stall_text(t: float) -> str:
    return (
        f"in the last {STALLED_STEPS} steps up to t = {t:.6g} no iteration made the fit better, so "
        f"the parameters stand still while the solution moves on; take a larger subset, more "
        f"iterations, a larger network or a smaller cutoff."
    )


def _lost(size: float, fits: Sequence[Fit], usual_size: float, t: float) -> str | None:
    """A sentence if the march has lost the solution, None if all is well."""
    misfit = np.max([0.0, *(fit.misfit for fit in fits)])
    if not np.isfinite(size) or size > LARGEST_GROWTH * usual_size:
        return (
            f"the solution grew from {usual_size:.3g} to {size:.3g} by t = {t:.6g}, so the "
            f"scheme is unstable at this time step or the problem is ill-posed; take a smaller dt "
            f"or an implicit scheme."
        )
    if not misfit <= LARGEST_MISFIT:
        return (
            f"the fit at t = {t:.6g} leaves {misfit:.1%} of the solution unexplained; take a "
            f"smaller dt, a larger network or an implicit scheme."
        )
    return None


class ProgressWatch:
    """Tells progress, and where an exact solution is known the error, seldom and on few points.

    The second look estimates how long the march will take, and only in a long one is the error
    measured. What that needs is compiled at the second look, never later.
    """

    def __init__(self, problem: Problem, plan: Plan, progress: Progress):
        self.problem, self.plan, self.progress = problem, plan, progress
        self.error: dict[str, float] = {}
        self._looks, self._watched = 0, False
        self._last = (time.monotonic(), 0.0)
        self._points = problem.domain.interior(ERROR_POINTS, seed=1).x

    def __call__(self, trajectory: Trajectory) -> None:
        t, end = trajectory.t, self.plan.steps.end
        if self.problem.exact_function is not None:
            self._look_at_error(trajectory, t, end)
        last = trajectory.history[-1]
        known = {"step": last.step, "time": t, **last.measured, **self.error}
        self.progress("march", t / end, known)

    def _look_at_error(self, trajectory: Trajectory, t: float, end: float) -> None:
        now, (then, before) = time.monotonic(), self._last
        self._looks += 1
        if self._looks == 2:
            self._watched = (now - then) / max(t - before, 1e-300) * (end - t) >= ERROR_INTERVAL
        due = self._looks == 2 or now - then >= ERROR_INTERVAL
        if self._looks == 1 or (self._watched and due):
            if self._watched:
                truth = self.problem.exact(self._points, t)
                found = self.plan.network(trajectory.state.theta).evaluate(self._points)
                size = float(np.linalg.norm(truth))
                if size > 0:
                    self.error = {"error": float(np.linalg.norm(found - truth)) / size}
            self._last = (now, t)
