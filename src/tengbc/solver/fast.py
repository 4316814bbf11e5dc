"""The preset `fast`: frozen features, implicit collocation in time, and a witness for the error.

Two solutions are computed: the answer, and a witness with other features, other points and half the
time step. Their difference is the error of the answer, up to that of the witness,
which is no larger. If it exceeds the tolerance, both are made anew on a finer level. So the error
that is stated was measured, not bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.geometry.points import Points
from tengbc.journal import NO_JOURNAL, Journal, Stage
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
from tengbc.solver.clock import Onset, clock
from tengbc.solver.compatibility import initial_mismatch
from tengbc.solver.crowd import initial_pace
from tengbc.solver.march import Callback
from tengbc.solver.outcome import Outcome, Result
from tengbc.solver.plan import Plan, Report
from tengbc.solver.resolution import PLAIN, Kind, resolving_features
from tengbc.solver.run_plan import Stopwatch, recalled, run_plan
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.solution import Solution

Array = np.ndarray
DEFAULT_TOLERANCE = 1e-6
MOST_FEATURES = 2000
MOST_STEPS = 20_000
UNSEEN = 1024
"""Points at which answer and witness are compared."""
WITNESS = 1.2
"""Features of the witness per feature of the answer: their errors are those of different features,
and time goes with the cube."""
GROWTH = 1.5
"""Features of the next level per feature of this one."""
ATTEMPTS = 5
"""How many levels are tried before the tolerance is given up."""
LOST_LEVELS = 3
"""A problem whose answer diverges on so many levels in a row is given up."""
MANY_STEPS = 50
"""From so many steps on it pays to form the orthogonal factors."""
GAIN = 0.4
"""A level that leaves more of the error than this will not be the last but one."""
OVERSAMPLING = 2.4
"""Interior points per feature."""
SYSTEM_OVERSAMPLING = 5.0
"""The same for systems. Waves do not decay, so nothing damps what grows between too few points: on
a square with rigid walls, 180 features and t = 1 the error is 9·10⁻⁵ with 2.4 and 2·10⁻⁹ with 5."""
EXPLICIT_DAMPING = 1e-9
"""Explicit steps need more damping than implicit ones, which damp by themselves: on heat-mixed with
245 features and Δt = 5·10⁻⁴ Euler's largest amplification factor is 79 with 10⁻¹³, 1.5 with 10⁻¹¹
and 0.998, the true one, with 10⁻⁹; the fit of the initial values falls from 4·10⁻⁹ to 4·10⁻⁸."""
COMPATIBLE = 1e-7
"""Initial and boundary data that differ by less are fitted together."""
FADED = 1e-10
"""What is left of a solution that has fallen below this part of its initial size is round-off."""
CALM_STEPS = 4
"""A solution that changes little in so many steps Δt is followed well by them."""
INITIAL_LAYER = 0.05
"""The part of the time that an initial layer of incompatible data is given to spread."""
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
    """How fine a solution is: its features and their kind, its time step, and its random seed."""

    features: int
    dt: float
    seed: int
    kind: Kind = PLAIN
    onset: Onset | None = None

    def witness(self) -> Level:
        """As fine or a little finer, with other features and half the time step."""
        features = round(self.features * WITNESS)
        return Level(features, self.dt / 2, self.seed + 1, self.kind, self.onset)

    def finer(self) -> Level:
        """The level to try next."""
        features = round(self.features * GROWTH)
        return Level(features, self.dt / 2, self.seed + 2, self.kind, self.onset)


def solve_fast(
    problem: Problem,
    options: Options,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback] = (),
    journal: Journal = NO_JOURNAL,
) -> Solution:
    """Solve with frozen features to the tolerance, and state the error."""
    tolerance = options.rtol or problem.rtol or DEFAULT_TOLERANCE
    options = options.model_copy(update={"rtol": tolerance})
    level = first_level(problem, options, t_end, tolerance)
    mismatch, drift = initial_mismatch(problem, boundary_points(problem.domain, 64), t_end)
    smooth = max([*mismatch.values(), *drift.values()], default=0.0) <= tolerance
    layer = 0.0 if smooth else INITIAL_LAYER * t_end
    best, least, spent = None, math.inf, {}
    for attempt in range(1, ATTEMPTS + 1):
        stage = journal.stage(f"answer {attempt}")
        answer = _solve_level(problem, options, level, t_end, report, callbacks, mismatch, stage)
        spent = _added(answer.seconds, spent)
        answer = replace(answer, seconds=spent)
        other, level = level.witness(), level.finer()
        fixed = options.features or options.dt
        last = fixed or attempt == ATTEMPTS or level.features > MOST_FEATURES
        if not answer.result:
            lost = answer.result.outcome is Outcome.DIVERGED
            if lost and best is not None:
                break  # an earlier level knows its error, which is worth more
            if lost and not last and attempt < LOST_LEVELS:
                continue  # it may have been too coarse
            return answer
        stage = journal.stage(f"witness {attempt}")
        witness = _solve_level(
            problem, options, other, t_end, _renamed(report), (), mismatch, stage
        )
        spent = _added(answer.seconds, witness.seconds)
        answer = replace(answer, seconds=spent)
        if not witness.result:
            # A witness that was lost says that this level is not to be trusted, no more.
            lost = witness.result.outcome is Outcome.DIVERGED
            if not lost or (last and best is None):
                return _told(answer, witness.result.outcome, witness.result.message)
            if last:
                break
            continue
        unseen = other.kind.interior(problem, UNSEEN, 987_654_321)
        answer = replace(answer, error_estimate=difference(answer, witness, unseen))
        worst = float(np.max(answer.error_estimate[answer.times >= layer]))
        enough = worst <= tolerance or last or worst > GAIN * least
        if best is None or worst < least:  # a finer level need not be a better one
            best, least = answer, worst
        if enough:
            break
    assert best is not None
    answer, worst = replace(best, seconds=spent), least
    if worst <= tolerance:
        return replace(
            answer, result=Result(Outcome.DONE, _layer_text(mismatch, drift, layer, answer))
        )
    return _told(
        answer,
        Outcome.TOLERANCE_NOT_REACHED,
        f"the error is near {worst:.1e} where {tolerance:.1e} was asked for; {_advice(answer)}.",
    )


def solve_once(problem: Problem, options: Options, report: Report) -> Solution:
    """Solve on the first level without a witness, so that no error is stated: for those who know
    the truth.
    """
    assert options.t_end is not None
    tolerance = options.rtol or problem.rtol or DEFAULT_TOLERANCE
    level = first_level(problem, options, options.t_end, tolerance)
    boundary = boundary_points(problem.domain, 64)
    mismatch, _ = initial_mismatch(problem, boundary, options.t_end)
    stage = NO_JOURNAL.stage("answer")
    return _solve_level(problem, options, level, options.t_end, report, (), mismatch, stage)


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
    if kind.crowd and not options.dt and isinstance(_scheme(options), RadauIIA):
        pace = initial_pace(problem, kind.interior(problem, UNSEEN, options.seed))
        onset = Onset(pace, dt * CALM_STEPS)
    return Level(features, dt, options.seed, kind, onset)


def following(problem: Problem, options: Options) -> bool:
    """Whether features have to follow the solution: on a line they can, and nonlinear ones move."""
    domain = problem.domain
    if domain.dim > 1 or domain.periodic or not isinstance(_scheme(options), RadauIIA):
        return False
    return not structure(problem.equation.rhs, problem.shape, domain.bounds[0]).affine


def _solve_level(
    problem: Problem,
    options: Options,
    level: Level,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback],
    mismatch: dict[str, float],
    stage: Stage,
) -> Solution:
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
    scheme: Any = _scheme(options)
    compatible = max(mismatch.values(), default=0.0) <= COMPATIBLE
    times = clock(t_end, level.dt, onset=level.onset)
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
            repeated_step=times.dt if times.steps > MANY_STEPS else None,
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
    )


def _scheme(options: Options) -> Any:
    return SCHEMES[options.scheme or DEFAULT_SCHEME]


def _oversampling(problem: Problem) -> float:
    return SYSTEM_OVERSAMPLING if problem.components > 1 else OVERSAMPLING


def _boundary_count(problem: Problem, interior: int) -> int:
    """Boundary points as dense as the interior ones, and half as many again."""
    domain = problem.domain
    length = sum(domain.length(segment) for segment in domain.segments)
    spacing = (domain.measure / interior) ** (1 / domain.dim)
    return max(2 * domain.dim, round(1.5 * length / spacing ** (domain.dim - 1)))


def difference(answer: Solution, witness: Solution, points: Points) -> Float[Array, " k"]:
    """Relative L² distance of two solutions at the answer's times, at points of neither.

    The witness also knows times in between; what the answer misses there, interpolating, counts for
    the stored times on both sides.
    """
    shape = (len(witness.times), len(points), -1)
    ours, theirs = (s.at_times(points.x, witness.times).reshape(shape) for s in (answer, witness))
    weight = np.sqrt(points.w)[:, None]
    size, found = (np.linalg.norm(weight * v, axis=(1, 2)) for v in (theirs, ours - theirs))
    found = found / np.where(size > 0, size, 1.0)
    first = np.searchsorted(witness.times, np.append(0.0, answer.times[:-1]), side="right") - 1
    after = np.searchsorted(witness.times, np.append(answer.times[1:], answer.times[-1]))
    return np.array([found[i : j + 1].max() for i, j in zip(first, after, strict=True)])


def _layer_text(mismatch: dict, drift: dict, layer: float, answer: Solution) -> str:
    if not layer:
        return ""
    both = {segment: max(mismatch[segment], drift[segment]) for segment in mismatch}
    segment = max(both, key=lambda name: both[name])
    what = "disagree" if mismatch[segment] >= drift[segment] else "move apart"
    return (
        f"initial values and the condition on {segment} {what} by {both[segment]:.1e} at t = 0, "
        f"so the tolerance holds from t = {layer:g} on; before, the error is up to "
        f"{np.max(answer.error_estimate):.1e}."
    )


def _advice(answer: Solution) -> str:
    """What to do about a tolerance that was missed."""
    points = answer.problem.domain.interior(256).x
    sizes = np.abs(answer.at_times(points, answer.times)).reshape(len(answer.times), -1).max(axis=1)
    before = np.maximum.accumulate(sizes)
    faded = np.flatnonzero((sizes <= FADED * before) & (before > 0))
    if faded.size:
        first = faded[0]
        return (
            f"by t = {answer.times[first]:.3g} the solution has fallen to "
            f"{sizes[first] / before[first]:.0e} of what it was, where an error relative to it "
            f"says little: end earlier"
        )
    return "accept it with a larger rtol, or give a smaller dt, more features or smoother data"


def _told(solution: Solution, outcome: Outcome, message: str) -> Solution:
    return replace(solution, result=Result(outcome, message))


def _added(first: dict[str, float], second: dict[str, float]) -> dict[str, float]:
    return {name: first.get(name, 0.0) + second.get(name, 0.0) for name in {**first, **second}}


def _renamed(report: Report) -> Report:
    """Progress of a witness, under a name that says what it is for."""
    return lambda phase, fraction, known: report(f"{phase} (witness)", fraction, known)
