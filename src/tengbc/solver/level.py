"""One level of the preset `fast`: how fine a solution is, and how it is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tengbc.estimate import MOST_FEATURES, OVERSAMPLING, SYSTEM_OVERSAMPLING, WITNESS
from tengbc.journal import Stage
from tengbc.networks import Network, Parameters
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.projection.following import CrowdedWaves, FollowingSpace, initial_crowding
from tengbc.projection.linear import DAMPING, LinearSpace
from tengbc.projection.structure import structure
from tengbc.schemes import (
    EULER,
    HEUN,
    RK4,
    AdamsBashforth,
    BackwardDifferences,
    RadauIIA,
    RungeKutta,
    State,
)
from tengbc.schemes.following import Following
from tengbc.solver.clock import Clock, Onset, clock
from tengbc.solver.crowd import initial_pace
from tengbc.solver.march import Callback
from tengbc.solver.plan import Plan, Report
from tengbc.solver.resolution import PLAIN, Kind, resolving_features
from tengbc.solver.run_plan import Stopwatch, recalled, run_plan
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.solution import Solution

GROWTH = 1.5
"""Features of a richer level per feature of this one."""
MANY_STEPS = 50
"""For more steps than these of one length it pays to prepare more."""
EXPLICIT_DAMPING = 1e-9
"""Explicit steps need more damping than implicit ones, which damp by themselves: on heat-mixed with
245 features and Δt = 5·10⁻⁴ Euler's largest amplification factor is 79 with 10⁻¹³, 1.5 with 10⁻¹¹
and 0.998, the true one, with 10⁻⁹; the fit of the initial values falls from 4·10⁻⁹ to 4·10⁻⁸."""
COMPATIBLE = 1e-7
"""Initial and boundary data that differ by less are fitted together."""
CALM_STEPS = 4
"""A solution that changes little in so many steps Δt is followed well by them."""
PACE_POINTS = 1024
"""Points at which the pace of the initial values is measured."""
DEFAULT_SCHEME = "radau9"
# Some schemes march in any space, the implicit ones in spaces with matrices, as all of ours are.
SCHEMES: dict[str, Any] = {
    scheme.name: scheme
    for scheme in (
        *(RadauIIA(stages) for stages in (5, 4, 3, 2)),
        *(BackwardDifferences(order) for order in (1, 2, 3, 4, 5)),
        *(BackwardDifferences(order, imex=True) for order in (1, 2, 3, 4)),
        *(AdamsBashforth(order) for order in (2, 3, 4)),
        *(RungeKutta(tableau) for tableau in (EULER, HEUN, RK4)),
    )
}


@dataclass(frozen=True)
class Level:
    """How fine a solution is: its features and their kind, its time step, and its random seed.

    `onset` makes the first steps shorter than `dt`; with `half` every step is halved, which is how
    another level of the same steps is checked.
    """

    features: int
    dt: float
    seed: int
    kind: Kind = PLAIN
    onset: Onset | None = None
    half: bool = False

    def witness(self) -> Level:
        """As fine or a little finer, with other features and half the time step."""
        return replace(self.halved(), features=round(self.features * WITNESS), seed=self.seed + 1)

    def halved(self) -> Level:
        """The same features, every step halved."""
        return replace(self, half=True)

    def shorter(self) -> Level:
        """The same features, half the time step for the answer itself."""
        return replace(self, dt=self.dt / 2)

    def clock(self, t_end: float) -> Clock:
        """The times to step to."""
        whole = clock(t_end, self.dt, onset=self.onset)
        return whole.halved() if self.half else whole

    def richer(self) -> Level:
        """More features, other ones, the same time step."""
        return replace(self, features=round(self.features * GROWTH), seed=self.seed + 2)


def first_level(problem: Problem, options: Options, t_end: float, tolerance: float) -> Level:
    """Where to begin: what smooth problems need for so many digits, more if u₀ needs more."""
    digits, dim = -math.log10(tolerance), problem.domain.dim
    needed = {1: 8 * digits, 2: 5 * digits**2, 3: 2.5 * digits**3}.get(dim, 100 * digits**2)
    most = round(MOST_FEATURES / WITNESS)
    features, kind = int(np.clip(needed, 24 * dim, most)), PLAIN
    steps = max(16, round(digits**2))
    if following(problem, options):
        features, steps = 2 * features, 2 * steps  # a front is to come
    if options.features:
        features = options.features
    elif not following(problem, options):
        features, kind = resolving_features(problem, features, most, tolerance, options.seed)
    dt, onset = options.dt or t_end / steps, None
    if kind.crowd and not options.dt and gradable(problem, options):
        pace = initial_pace(problem, kind.interior(problem, PACE_POINTS, options.seed))
        onset = Onset.growing(pace, dt * CALM_STEPS)
    return Level(features, dt, options.seed, kind, onset)


def gradable(problem: Problem, options: Options) -> bool:
    """Whether steps may differ in length: multistep schemes need equal ones."""
    return isinstance(chosen_scheme(options), RadauIIA) and not following(problem, options)


def following(problem: Problem, options: Options) -> bool:
    """Whether features have to follow the solution: on a line they can, and nonlinear ones move."""
    domain = problem.domain
    if domain.dim > 1 or domain.periodic or not isinstance(chosen_scheme(options), RadauIIA):
        return False
    return not structure(problem.equation.rhs, problem.shape, domain.bounds[0]).affine


def solve_level(
    problem: Problem,
    options: Options,
    level: Level,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback],
    mismatch: dict[str, float],
    stage: Stage,
) -> Solution:
    """The solution of one level, recalled if an earlier session has finished it."""
    before = stage.recall()
    if before is not None and before.finished:
        parameters = Parameters(level_network(problem, options, level))
        return recalled(problem, parameters, before, stage)
    watch = Stopwatch()
    plan = plan_fast(problem, options, level, t_end, mismatch)
    fitting, compiling = watch.lap()
    solution = run_plan(problem, plan, options, report, callbacks, stage)
    solution.seconds["initial_fit"] = fitting
    solution.seconds["compile"] += compiling
    return solution


def level_network(problem: Problem, options: Options, level: Level) -> Network:
    """The features of a level, where they follow the solution as they are at the start."""
    if following(problem, options):
        return _crowded_waves(problem, level).network(initial_crowding(problem))
    return level.kind.network(problem, level.features, level.seed)


def _crowded_waves(problem: Problem, level: Level) -> CrowdedWaves:
    return CrowdedWaves(problem.domain, level.features, problem.components, level.seed)


def plan_fast(
    problem: Problem, options: Options, level: Level, t_end: float, mismatch: dict[str, float]
) -> Plan:
    """Features, points, matrices and the fitted initial condition of one level."""
    domain = problem.domain
    points = options.interior_points or round(_oversampling(problem) * level.features)
    scheme: Any = chosen_scheme(options)
    compatible = max(mismatch.values(), default=0.0) <= COMPATIBLE
    times = level.clock(t_end)
    if following(problem, options):
        boundary = boundary_points(domain, 2)
        scheme = Following(scheme)
        space = FollowingSpace(problem, _crowded_waves(problem, level), points, boundary, DAMPING)
    else:
        interior = level.kind.interior(problem, points, level.seed)
        count = options.boundary_points or _boundary_count(problem, len(interior))
        explicit = isinstance(scheme, RungeKutta | AdamsBashforth)
        space = LinearSpace(
            problem,
            level_network(problem, options, level),
            interior,
            boundary_points(domain, count),
            damping=EXPLICIT_DAMPING if explicit else DAMPING,
            repeated_steps=times.repeated(MANY_STEPS),
        )
    target = initial_values(problem, space.collocation.interior)
    if compatible:
        start = space.project(space.collocation.parameters.start, target, 0.0).theta
    else:
        start = space.project_inside(target)  # u₀ is what counts: the first step meets the boundary
    return Plan(
        space=space,
        scheme=scheme,
        clock=times,
        start=State(start),
        collocation=space.collocation,
        checks=level.half,
    )


def chosen_scheme(options: Options) -> Any:
    """The scheme that the options name, or the default."""
    return SCHEMES[options.scheme or DEFAULT_SCHEME]


def _oversampling(problem: Problem) -> float:
    return SYSTEM_OVERSAMPLING if problem.components > 1 else OVERSAMPLING


def _boundary_count(problem: Problem, interior: int) -> int:
    """Boundary points as dense as the interior ones, and half as many again."""
    domain = problem.domain
    length = sum(domain.segment_measure(segment) for segment in domain.segments)
    spacing = (domain.measure / interior) ** (1 / domain.dim)
    return max(2 * domain.dim, round(1.5 * length / spacing ** (domain.dim - 1)))
