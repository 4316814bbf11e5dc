"""What strategies with one global basis of features share: resolutions, companions, refinement."""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from tengbc.costs import Cost, feature_memory, feature_options, feature_rows
from tengbc.defaults import DEFAULT_TOLERANCE, FEATURES
from tengbc.errors import UsageError
from tengbc.geometry.points import Points
from tengbc.networks import Network, Parameters
from tengbc.networks.waves import FeatureFamily
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.schemes import SCHEMES, AbstractScheme
from tengbc.solution.measure import TIMES
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.sampling import initial_values
from tengbc.solver.steps import GridSteps, StepGrading, TimeGrid, time_grid
from tengbc.solver.strategies.base import AbstractStrategy, Blame, Solved, Task
from tengbc.spaces import BlockedLinearSpace, LinearSpace, State

Array = np.ndarray
GROWTH = 1.5
"""Features of a richer resolution per feature of this one."""
COMPATIBLE = 1e-7
"""Initial and boundary data that differ by less are fitted together."""
ALL_STATES, MOST_STATES = 1000, 4000
"""A march of up to ALL_STATES steps keeps every state, a longer one at most MOST_STATES of them."""
MOST_NUMBERS = 4_000_000
"""Numbers in the states that are kept of a longer march, 32 MB."""
FACTORISING, PRODUCTS = 48, 20
"""Operations per row and squared unknown of a step's factorisations, per row and unknown of a step;
measured on a disk with 245 to 1200 features, they foretell the seconds to a factor of 1.6."""
COMPILING = 4.0
"""Seconds that go into compiling, however small the problem is."""
RANDOM = FeatureFamily()
"""Random waves, as long as the domain suggests."""


@dataclass(frozen=True)
class FeatureResolution:
    """How finely: how many features of which family, the time step, and the random seed.

    `grading` makes the first steps shorter than `dt`; `half` halves every step, for a solution that
    checks an answer.
    """

    features: int
    dt: float
    seed: int
    family: FeatureFamily = RANDOM
    grading: StepGrading | None = None
    half: bool = False

    def with_half_steps(self) -> FeatureResolution:
        """The same features, every step halved."""
        return replace(self, half=True)

    def with_more_features(self) -> FeatureResolution:
        """More features, other ones, the same time step."""
        return replace(self, features=round(self.features * GROWTH), seed=self.seed + 2)

    def grid(self, t_end: float) -> TimeGrid:
        """The times to step to."""
        whole = time_grid(t_end, self.dt, grading=self.grading)
        return whole.halved() if self.half else whole


class AbstractFeatureStrategy(AbstractStrategy):
    """A global basis whose head marches; the companion has other features and half the steps."""

    honours = frozenset({"rtol", "scheme", "dt", "features", "interior_points", "boundary_points"})
    may_grade: bool
    """Whether steps may differ in length, if the scheme allows it."""
    halvings: int = 0
    """How often a step that fails may be halved."""

    def check(self, problem: Problem, options: Options) -> None:
        reason = self.refuses(chosen_scheme(options))
        if reason:
            raise UsageError(
                f"The strategy {self.name} cannot march with the scheme {options.scheme}, "
                f"{reason}; choose another scheme, or another strategy."
            )

    @abc.abstractmethod
    def refuses(self, scheme: AbstractScheme) -> str:
        """Why it cannot march with a scheme; empty if it can."""

    def companions(self, answer: Solved) -> dict[str, FeatureResolution]:
        """As fine or a little finer, with other features and half the time step."""
        given: FeatureResolution = answer.resolution
        more = round(given.features * FEATURES.companion_features)
        return {"companion": replace(given.with_half_steps(), features=more, seed=given.seed + 1)}

    def half_steps(self, resolution: FeatureResolution) -> FeatureResolution:
        return resolution.with_half_steps()

    def fixed(self, options: Options) -> bool:
        return bool(options.features or options.dt)

    def refine(
        self,
        task: Task,
        resolution: FeatureResolution,
        trajectory: Trajectory,
        blame: Blame | None,
    ) -> FeatureResolution | None:
        if blame is None:
            finer = replace(resolution.with_more_features(), dt=resolution.dt / 2)
        else:
            scheme = chosen_scheme(task.options)
            finer = self.finer(resolution, blame, scheme.order, self.may_grade and scheme.one_step)
        return finer if finer.features <= FEATURES.most_features else None

    def finer(
        self, resolution: FeatureResolution, blame: Blame, order: int, graded: bool
    ) -> FeatureResolution:
        """The resolution to try next, from what time and space leave.

        Features grow where space is to blame. Steps are made for a share of the tolerance, as
        errors go with the power `order` of a step; where they may be graded, steps at the end are
        longer than those at the beginning if the errors allow it. If neither is to blame, both are
        made finer.
        """
        policy, times, in_time = self.policy, blame.times, blame.in_time
        neither = max(in_time.max(), blame.in_space) <= 1
        blamed = blame.in_space > max(1.0, policy.spill * in_time.max())
        if blamed or neither:
            resolution = resolution.with_more_features()
        if neither:
            return replace(resolution, dt=resolution.dt / 2)
        part = (policy.share / np.maximum(in_time, policy.share)) ** (
            1 / min(order, policy.steepest)
        )
        part = np.minimum(1.0, part)
        part = np.minimum.accumulate(part[::-1])[::-1]  # as short as any step after it
        if not graded:
            part[:] = part[0]
        if resolution.grading is not None:
            part *= [resolution.grading.part(t) for t in times]
        part = np.maximum(part, min(1.0, times[-1] / policy.most_steps / resolution.dt))
        grading = StepGrading(tuple(times.tolist()), tuple((part / part[-1]).tolist()))
        dt = resolution.dt * part[-1]
        return replace(resolution, dt=dt, grading=grading if part[0] < part[-1] else None)

    def work_ratio(self, task: Task, solved: Solved, resolution: FeatureResolution) -> float:
        """A factorisation, n³, for each length of steps, and products, n², for each step."""

        def work(one: FeatureResolution) -> float:
            n, grid = one.features, one.grid(task.t_end)
            lengths = len({1.0, *grid.parts})
            return (FACTORISING * lengths * n + PRODUCTS * grid.steps) * n**2

        return work(resolution) / work(solved.resolution)

    def discretise(self, task: Task, resolution: FeatureResolution) -> Plan:
        problem, options = task.problem, task.options
        scheme, grid = chosen_scheme(options), resolution.grid(task.t_end)
        points = options.interior_points or round(oversampling(problem) * resolution.features)
        space = self.space(task, resolution, points)
        target = space.collocation.sampled(lambda points: initial_values(problem, points))
        if max(task.mismatch.values(), default=0.0) <= COMPATIBLE:
            theta = space.project(space.collocation.parameters.start, target, 0.0).theta
        else:
            # u₀ is what counts: the first step meets the boundary.
            theta = space.project_inside(target)
        steps = GridSteps(grid, keep_every(len(theta), grid.steps, resolution.half), self.halvings)
        parameters = space.collocation.parameters
        facts = {
            "scheme": scheme.name,
            "dt": grid.dt,
            "steps": grid.steps,
            "parameters": len(parameters),
            "interior_points": len(space.collocation.interior),
            "boundary_points": sum(len(points) for points in space.collocation.boundary),
        }
        return Plan(space, scheme, steps, State(theta), parameters.network, facts)

    @abc.abstractmethod
    def space(
        self, task: Task, resolution: FeatureResolution, points: int
    ) -> LinearSpace | BlockedLinearSpace:
        """Features, points and matrices of a resolution."""

    @abc.abstractmethod
    def network(self, problem: Problem, resolution: FeatureResolution) -> Network:
        """The features of a resolution, as they are at the start."""

    def parameters(
        self, task: Task, resolution: FeatureResolution, trajectory: Trajectory
    ) -> tuple[Parameters[Network], Float[Array, "k p"]]:
        return Parameters(self.network(task.problem, resolution)), np.array(trajectory.thetas)

    def unseen(self, problem: Problem, resolution: FeatureResolution) -> Points:
        count = self.policy.unseen_points
        return resolution.family.interior(problem.domain, count, 987_654_321)

    @property
    def advice(self) -> str:
        return "accept it with a larger rtol, or give a smaller dt, more features or smoother data"

    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """Three marches: the factorisations of their stages and a product or two for each step."""
        tolerance, m = options.rtol or problem.rtol or DEFAULT_TOLERANCE, problem.components or 1
        digits = -math.log10(tolerance)
        features = options.features or smooth_features(problem, digits)
        rows = m * feature_rows(options, features, m)
        steps = t_end / options.dt if options.dt else FEATURES.steps(digits)
        factors = FACTORISING * rows * (m * features) ** 2
        products = PRODUCTS * rows * m * features
        seconds = COMPILING + 3 * (factors + 2 * steps * products) / speed
        memory, lower = feature_memory(options, m), feature_options(options)
        return Cost(seconds, memory, lower, foreseeable=self.fixed(options))


def smooth_features(problem: Problem, digits: float) -> int:
    """Features that a smooth problem needs for a number of digits, within bounds."""
    dim = problem.domain.dim
    most = round(FEATURES.most_features / FEATURES.companion_features)
    return int(np.clip(FEATURES.features(digits, dim), 24 * dim, most))


def chosen_scheme(options: Options) -> AbstractScheme:
    """The scheme that the options name, or the default."""
    return SCHEMES[options.scheme or FEATURES.scheme]


def oversampling(problem: Problem) -> float:
    """Interior points per feature."""
    return FEATURES.system_oversampling if problem.components > 1 else FEATURES.oversampling


def keep_every(parameters: int, steps: int, checks: bool) -> int:
    """Keep all states of a short march; of a longer one as many as memory allows, TIMES at least.

    In between u is interpolated, so states that are far apart would cost digits. A march that
    `checks` another with half its steps keeps states between those that the other keeps.
    """
    if checks:
        steps //= 2
    if steps <= ALL_STATES:
        return 1
    return math.ceil(steps / max(TIMES, min(MOST_STATES, MOST_NUMBERS // parameters)))
