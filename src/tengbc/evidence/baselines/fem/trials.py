"""One run of a problem with given choices, measured against the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.evidence.baselines.fem.solve import solve_fem
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FemTrial:
    """One run: its choices, the seconds it took, of them in the march, and its errors.

    `error` is the largest of the relative L² errors `by_time`.
    """

    resolution: int
    scheme: str
    steps: int
    dt: float
    unknowns: int
    seconds: float
    march_seconds: float
    error: float
    by_time: Float[Array, " k"]


class Runner:
    """Runs a problem with given choices and measures the outcome at points and times."""

    def __init__(
        self,
        problem: Problem,
        t_end: int | float,
        points: Float[Array, "n 2"],
        times: Float[Array, " k"],
        truth: Float[Array, "k n"],
    ):
        self.problem, self.t_end = problem, t_end
        self.points, self.times, self.truth = points, times, truth
        self.sizes = np.linalg.norm(truth, axis=1)

    def run(
        self, resolution: int, scheme: str, steps: int, budget: int | float | None = None
    ) -> tuple[FemTrial, Float[Array, "k n"]]:
        """A trial and its values at the points and times."""
        solution = solve_fem(
            self.problem,
            self.t_end,
            resolution=resolution,
            dt=self.t_end / steps,
            times=self.times,
            scheme=scheme,
            budget=budget,
        )
        values = np.stack([solution(self.points, t) for t in self.times])
        by_time = self.relative(values - self.truth)
        trial = FemTrial(
            resolution=resolution,
            scheme=scheme,
            steps=steps,
            dt=self.t_end / steps,
            unknowns=solution.unknowns,
            seconds=solution.total_seconds,
            march_seconds=solution.seconds["march"],
            error=float(by_time.max()),
            by_time=by_time,
        )
        return trial, values

    def relative(self, difference: Float[Array, "k n"]) -> Float[Array, " k"]:
        """Its norm at each time, as a part of the truth's."""
        return np.linalg.norm(difference, axis=1) / np.where(self.sizes > 0, self.sizes, 1.0)
