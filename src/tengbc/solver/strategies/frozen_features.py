"""Frozen features: one basis chosen by the initial values, matrices and factors made once."""

import math
from typing import final

import numpy as np

from tengbc.defaults import FEATURES
from tengbc.geometry.points import Points
from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks import Network
from tengbc.networks.adapt import axes_of_field
from tengbc.networks.waves import FeatureFamily
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.schemes import AbstractScheme
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.steps import MANY_STEPS, StepGrading
from tengbc.solver.strategies.base import Applies, Task, check_blocks, row_blocks
from tengbc.solver.strategies.features import (
    RANDOM,
    AbstractFeatureStrategy,
    FeatureResolution,
    chosen_scheme,
    smooth_features,
)
from tengbc.spaces import BlockedLinearSpace
from tengbc.spaces.linear import DAMPING, LinearSpace

EXPLICIT_DAMPING = 1e-9
"""Explicit steps need more damping than implicit ones, which damp by themselves: on heat-mixed with
245 features and Δt = 5·10⁻⁴ Euler's largest amplification factor is 79 with 10⁻¹³, 1.5 with 10⁻¹¹
and 0.998, the true one, with 10⁻⁹; the fit of the initial values falls from 4·10⁻⁹ to 4·10⁻⁸."""
CALM_STEPS = 4
"""A step Δt suits a solution that takes at least this many steps to change by its own size."""
PACE_POINTS = 1024
"""Points at which the pace of the initial values is measured."""
STRETCHES = (1.0, 1.8)
"""Smooth data want long waves; narrow peaks want shorter ones, at some cost in the rest."""
FIT_GROWTH = 1.4
FIT_DAMPING = 1e-13
HOPELESS = 0.03
"""If ENOUGH_TO_TELL features leave a larger error than this, no more of the family are tried."""
ENOUGH_TO_TELL = 450
CLEARLY = 0.1
"""Graded waves are taken only if they leave less than this part of the error of random ones, which
march well on any domain."""
GRADABLE = 3
"""The most dimensions for graded waves: in more, a lattice has too few waves along each axis."""
PER_FEATURE = 2.0
"""Points of a fit per feature."""


@final
class FrozenFeatures(AbstractFeatureStrategy):
    """Waves chosen once, by what the initial values need; only the head moves."""

    name = "frozen-features"
    what = "one basis of waves chosen by the initial values, implicit in time"
    may_grade = True
    honours = AbstractFeatureStrategy.honours | {"devices", "blocks"}

    def check(self, problem: Problem, options: Options) -> None:
        super().check(problem, options)
        check_blocks(options)

    def applies(self, problem: Problem) -> Applies:
        return Applies(True, "any equation on any domain, as long as the solution stays smooth")

    def refuses(self, scheme: AbstractScheme) -> str:
        return ""

    def first(self, task: Task) -> FeatureResolution:
        """The features that a smooth problem needs for its digits, more if u₀ needs more."""
        problem, options, digits = task.problem, task.options, -math.log10(task.tolerance)
        features, family = smooth_features(problem, digits), RANDOM
        if options.features:
            features = options.features
        else:
            most = round(FEATURES.most_features / FEATURES.companion_features)
            features, family = resolving_features(
                problem, features, most, task.tolerance, options.seed
            )
        dt, grading = options.dt or task.t_end / FEATURES.steps(digits), None
        if family.axes is not None and not options.dt and chosen_scheme(options).one_step:
            points = family.interior(problem.domain, PACE_POINTS, options.seed)
            grading = StepGrading.growing(initial_pace(problem, points), dt * CALM_STEPS)
        return FeatureResolution(features, dt, options.seed, family, grading)

    def network(self, problem: Problem, resolution: FeatureResolution) -> Network:
        return resolution.family.network(
            problem.domain, problem.components, resolution.features, resolution.seed
        )

    def space(
        self, task: Task, resolution: FeatureResolution, points: int
    ) -> LinearSpace | BlockedLinearSpace:
        problem, options, blocks = task.problem, task.options, row_blocks(task.options)
        interior = resolution.family.interior(problem.domain, points, resolution.seed)
        count = options.boundary_points or boundary_count(problem, len(interior))
        network, boundary = (
            self.network(problem, resolution),
            boundary_points(problem.domain, count),
        )
        damping = EXPLICIT_DAMPING if chosen_scheme(options).explicit else DAMPING
        if blocks is not None:
            return BlockedLinearSpace(blocks, problem, network, interior, boundary, damping)
        return LinearSpace(
            problem,
            network,
            interior,
            boundary,
            damping=damping,
            many_solves=len(resolution.grid(task.t_end).repeated(MANY_STEPS)) > 0,
        )


def boundary_count(problem: Problem, interior: int) -> int:
    """Boundary points as dense as the interior ones, and half as many again."""
    domain = problem.domain
    length = sum(domain.segment_measure(segment) for segment in domain.segments)
    spacing = (domain.measure / interior) ** (1 / domain.dim)
    return max(2 * domain.dim, round(1.5 * length / spacing ** (domain.dim - 1)))


def initial_pace(problem: Problem, points: Points) -> float:
    """‖u₀‖/‖L(u₀)‖: the time in which u changes by as much as it is, at first."""
    rate = lambda x: problem.equation.rhs(problem.initial_function, x, 0.0)
    rates = problem.program("initial rate", rate)(points.x)
    values, weight = initial_values(problem, points), np.sqrt(points.w)[:, None]
    size, speed = (np.linalg.norm(weight * v.reshape(values.shape)) for v in (values, rates))
    return float(size / speed) if np.isfinite(speed) and speed > 0 else np.inf


def resolving_features(
    problem: Problem, fewest: int, most: int, tolerance: float, seed: int
) -> tuple[int, FeatureFamily]:
    """(number, family) of the features that fit u₀ to the tolerance at points of no fit.

    The numbers grow from `fewest` to at most `most`. Random waves come first; where they do not
    get there, waves of graded axes. If none suffices, the best is taken.
    """
    periodic = problem.domain.periodic
    random = [FeatureFamily(stretch) for stretch in STRETCHES[: 1 if periodic else None]]
    error, count, family = _grown(problem, random, fewest, most, tolerance, seed)
    if error > tolerance and not periodic and problem.domain.dim <= GRADABLE:
        axes, density = axes_of_field(problem.domain, problem.initial_function)
        graded = [FeatureFamily(axes=axes, wave_density=density)]
        found = _grown(problem, graded, fewest, most, tolerance, seed)
        if found[0] < CLEARLY * error:
            _, count, family = found
    return count, family


def _grown(
    problem: Problem,
    families: list[FeatureFamily],
    fewest: int,
    most: int,
    tolerance: float,
    seed: int,
) -> tuple[float, int, FeatureFamily]:
    """(error, number, family) of the first that suffices, or of the best."""
    best = (math.inf, fewest, families[0])
    count = fewest
    while True:
        for family in families:
            error = _fit_error(problem, family, count, seed)
            if error < best[0]:
                best = (error, count, family)
            if error <= tolerance:
                return best
        if count >= most or (count >= ENOUGH_TO_TELL and best[0] > HOPELESS):
            return best
        count = min(most, round(FIT_GROWTH * count))


def _fit_error(problem: Problem, family: FeatureFamily, count: int, seed: int) -> float:
    """Relative error of the best fit of u₀ with `count` features."""
    domain, number = problem.domain, round(PER_FEATURE * count)
    waves = family.waves(domain, count, seed)
    points, unseen = (family.interior(domain, number, seed + k) for k in (0, 1))
    targets, truth = (initial_values(problem, sample) for sample in (points, unseen))
    scale, weight = (np.sqrt(sample.w)[:, None] for sample in (points, unseen))
    factored = RegularisedQR(scale * family.at(points.x, waves), FIT_DAMPING)
    heads = np.stack([factored.solve(target) for target in (scale * targets).T], axis=1)
    missed = family.at(unseen.x, waves) @ heads - truth
    size = float(np.linalg.norm(weight * truth))
    return float(np.linalg.norm(weight * missed)) / size if size else 0.0
