"""How errors are measured, the same for every solver: relative L² on points of no fit."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.pointwise import check_finite
from tengbc.problem import Problem

Array = np.ndarray
TIMES = 100
"""Equispaced intervals of [0, T] at whose ends the error is taken."""


@dataclass(frozen=True)
class Errors:
    """Per-time relative errors, and the two ways to sum them up.

    `worst` is the largest over the times at which the truth is known; `full` is √Σ‖u − u*‖² /
    √Σ‖u*‖² over them. Both are NaN where it is known at the start only: a fit is no solution.
    """

    by_time: list[tuple[float, float]]
    worst: float
    full: float
    end: float
    """The time up to which the problem was solved, whether or not the truth is known there."""

    @property
    def final(self) -> float | None:
        """The error at the end; None where it was not measured there."""
        last, error = self.by_time[-1]
        return error if last >= self.end * (1 - 1e-9) else None

    @property
    def when(self) -> str:
        """The times at which it was measured, in words."""
        times = [t for t, _ in self.by_time]
        if times[-1] == 0 < self.end:
            return "not measured after t = 0"
        if len(times) > 1:
            return f"measured at {len(times)} times from t = {times[0]:g} to {times[-1]:g}"
        return f"measured at t = {times[0]:g}"


class Truth:
    """The exact solution, or the stored reference, at the points where errors are measured."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.exact = problem.exact_function is not None
        reference = problem.reference
        if self.exact:
            self.points = problem.domain.evaluation_grid(_per_axis(problem.domain.dim))
        elif reference is not None:
            self.points = reference.points
        else:
            self.points = np.zeros((0, problem.domain.dim))

    @property
    def known(self) -> bool:
        """Whether there is anything to compare with."""
        return len(self.points) > 0

    def times(self, end: float) -> Float[Array, " k"]:
        """The times in [0, end] at which the error is measured."""
        if self.exact:
            return np.linspace(0.0, end, TIMES + 1)
        stored = self.problem.reference.times if self.problem.reference else np.zeros(0)
        return stored[stored <= end * (1 + 1e-12)]

    def values(self, t: float) -> Float[Array, "..."]:
        """The true solution at `points`."""
        if self.exact:
            values = self.problem.exact(self.points, t)
            check_finite("The exact solution", values, self.points, t, "correct it there")
            return values
        assert self.problem.reference is not None
        return self.problem.reference.values_at(t)

    def errors(self, u: Callable[[Array, Array], Array], end: float) -> Errors | None:
        """Errors of u(points, times) over [0, end]; None where no truth is known."""
        if not self.known:
            return None
        by_time, missed, whole = [], 0.0, 0.0
        times = self.times(end)
        for t, values in zip(times, u(self.points, times), strict=True):
            truth = self.values(t)
            difference = np.linalg.norm(values - truth)
            size = np.linalg.norm(truth)
            by_time.append((float(t), float(difference / size) if size else float(difference)))
            missed, whole = missed + difference**2, whole + size**2
        if not by_time:
            return None
        if by_time[-1][0] == 0 < end:
            return Errors(by_time, float("nan"), float("nan"), end)
        worst = max(error for _, error in by_time)
        return Errors(by_time, worst, float(np.sqrt(missed / whole)) if whole else worst, end)


def _per_axis(dim: int) -> int:
    """101 per axis in the plane; as many points as there is room for in higher dimensions."""
    return {1: 1001, 2: 101, 3: 25}.get(dim, max(3, round(10_000 ** (1 / dim))))
