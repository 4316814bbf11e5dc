"""Problems made from a solution: the source and the boundary data follow from it."""

from collections.abc import Callable, Mapping

import jax
import numpy as np

import tengbc as tb
from tengbc.solution.measure import Truth


def manufactured(domain, equation, laws: Mapping[str, tuple], exact: Callable) -> tb.Problem:
    """∂ₜu = L(u) + f and a(x)·u + b(x)·∂ₙu = v on each segment, with f and v from the solution."""

    def source(x, t):
        rate = jax.jvp(lambda s: exact(x, s), (t,), (1.0,))[1]
        return rate - equation.rhs(lambda y: exact(y, t), x, t)

    def condition(a, b):
        def residual(u, x, normal, t):
            missed = lambda y: u(y) - exact(y, t)
            factors = (c(x) if callable(c) else c for c in (a, b))
            first, second = factors
            return first * missed(x) + second * tb.normal_derivative(missed)(x, normal)

        return tb.Condition(residual)

    return tb.Problem(
        domain,
        equation + tb.Source(source),
        {segment: condition(*law) for segment, law in laws.items()},
        lambda x: exact(x, 0.0),
        exact,
    )


def worst_error(solution: tb.Solution) -> float:
    """The largest relative L² error over time, on a grid of its own."""
    found = Truth(solution.problem).errors(solution.at_times, solution.times[-1])
    assert found is not None
    return found.worst


def errors_at_stored_times(solution: tb.Solution) -> np.ndarray:
    problem, count = solution.problem, len(solution.times)
    points = problem.domain.evaluation_grid({1: 501, 2: 41, 3: 13}[problem.domain.dim])
    found = solution.at_times(points, solution.times).reshape(count, -1)
    truth = np.stack([problem.exact(points, t) for t in solution.times]).reshape(count, -1)
    return np.linalg.norm(found - truth, axis=1) / np.linalg.norm(truth, axis=1)
