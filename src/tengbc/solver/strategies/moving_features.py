"""Moving features: on an interval, waves and points follow a front that forms or travels."""

import math
from functools import lru_cache
from typing import final

from tengbc.defaults import FEATURES
from tengbc.networks import GradedAxis, Network
from tengbc.networks.adapt import axes_of_field
from tengbc.problem import Problem
from tengbc.schemes import AbstractScheme
from tengbc.solver.sampling import boundary_points
from tengbc.solver.strategies.base import Applies, Task
from tengbc.solver.strategies.features import (
    AbstractFeatureStrategy,
    FeatureResolution,
    smooth_features,
)
from tengbc.spaces.linear import LinearSpace
from tengbc.spaces.moving import MovingPlacement
from tengbc.structure import structure

MORE = 2
"""Features and steps per one that a smooth solution would need: a front is to come."""


@final
class MovingFeatures(AbstractFeatureStrategy):
    """Waves of a graded coordinate, placed anew when the solution has become steeper."""

    name = "moving-features"
    what = "waves and points that follow a front along an interval"
    may_grade = False
    halvings = 4

    def applies(self, problem: Problem) -> Applies:
        domain = problem.domain
        if domain.dim > 1 or domain.periodic:
            return Applies(False, "the domain is no interval")
        if structure(problem.equation.rhs, problem.shape, domain.bounds[0]).affine:
            return Applies(False, "the equation is linear, so no front forms by itself")
        return Applies(True, "a nonlinear equation on an interval: a front may form or travel")

    def refuses(self, scheme: AbstractScheme) -> str:
        if scheme.one_step and not scheme.explicit:
            return ""
        return "since steps must be implicit and may be halved, which multistep schemes cannot bear"

    def first(self, task: Task) -> FeatureResolution:
        problem, options, digits = task.problem, task.options, -math.log10(task.tolerance)
        features = options.features or MORE * smooth_features(problem, digits)
        dt = options.dt or task.t_end / (MORE * FEATURES.steps(digits))
        return FeatureResolution(features, dt, options.seed)

    def network(self, problem: Problem, resolution: FeatureResolution) -> Network:
        return self._placement(problem, resolution, 1).network(_initial_axis(problem))

    def space(self, task: Task, resolution: FeatureResolution, points: int) -> LinearSpace:
        problem = task.problem
        axis = _initial_axis(problem)
        placement = self._placement(problem, resolution, points)
        return LinearSpace(
            problem,
            placement.network(axis),
            placement.interior(axis),
            boundary_points(problem.domain, 2),
            placement=placement,
        )

    def _placement(
        self, problem: Problem, resolution: FeatureResolution, points: int
    ) -> MovingPlacement:
        count, seed = resolution.features, resolution.seed
        return MovingPlacement(problem.domain, count, points, problem.components, seed)


@lru_cache(maxsize=8)
def _initial_axis(problem: Problem) -> GradedAxis:
    """The coordinate that suits the initial values."""
    axes, _ = axes_of_field(problem.domain, problem.initial_function)
    return axes.axes[0]
