"""The points a run works on, and the initial values there."""

import numpy as np
from jaxtyping import Float

from tengbc.errors import ProblemError
from tengbc.geometry.domain import Domain
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.pointwise import check_finite
from tengbc.problem import Problem

SMALLEST = 1e-100
"""Sizes of u₀ below this, or above its inverse, are refused."""


def boundary_points(
    domain: Domain, count: int, rule: str = "uniform", least: int = 1, seed: int = 0
) -> list[BoundaryPoints]:
    """About `count` points over the whole boundary, shared out to the segments by length."""
    total = sum(domain.segment_measure(segment) for segment in domain.segments)
    return [
        domain.boundary(
            segment,
            max(least, round(count * domain.segment_measure(segment) / total)),
            rule=rule,
            seed=seed,
        )
        for segment in domain.segments
    ]


def initial_values(problem: Problem, points: Points) -> Float[np.ndarray, "n m"]:
    """u(x, 0) at the points, one column per component; NaN and infinity are an error."""
    values = problem.initial(points.x).reshape(len(points), problem.components or 1)
    check_finite("The initial condition", values, points.x, 0.0, "correct it there")
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest and not SMALLEST <= largest <= 1 / SMALLEST:
        raise ProblemError(
            f"The initial values are of size {largest:.1e}, whose squares are no floating-point "
            f"numbers; state the problem in other units."
        )
    return values
