"""Finite elements: for a part of the time and for all of it, the best mesh and steps in it.

What a run will cost and how accurate it will be is found by pilot runs on coarse meshes, which are
not timed: they stand for a user's experience. They split the error into its parts,

    error ≈ A·resolution⁻ᵖ + B·steps⁻ᵠ,

the first measured against the truth, the second for each scheme against finer steps on the same
mesh.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.fem import BudgetError, solve_fem
from tengbc.evidence.baselines.fem.schemes import SCHEMES
from tengbc.evidence.baselines.fem.weak_form import physics
from tengbc.evidence.comparison.trial import Trial
from tengbc.problem import Problem
from tengbc.solution.measure import Errors, Truth
from tengbc.timing import Stopwatch
from tengbc.types import Progress

Array = np.ndarray
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""Parts of the seconds for which there is a run each."""
LADDER = (4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 320, 384, 512)
"""Resolutions to choose from."""
PILOT = (12, 24)
"""Resolutions of the pilot."""
PILOT_STEPS = 12
"""Few, so that the error in time shows: with many, what remains is how the initial values adjust to
the mesh in the first moments, which is part of the error in space."""
FEWEST_STEPS = 4
ATTEMPTS = 4
"""How often a run is tried, each time smaller, until it fits into its seconds."""
SMALLEST = 1e-15
"""Errors below rounding count as this."""
SAFETY = 0.9
"""The share of the time that a run is planned to take: clocks are not that steady."""
SOLVE_GROWTH, PREPARATION_GROWTH = 2.2, 2.4
"""How the cost of a solve and of the preparations grow with the resolution, as powers of it."""


def trials(
    problem: Problem, end: float, seconds: float, truth: Truth, report: Progress
) -> Iterator[Trial]:
    """A run for each share of the seconds, planned from pilot runs."""
    report("fem pilot", 0.0, {})
    model = pilot(problem, end, truth)
    for share in SHARES:
        report("fem", share, {})
        watch = Stopwatch()
        run = _best(problem, end, truth, model, share * seconds)
        if run is None:
            continue
        model.measured = run
        yield Trial(
            f"resolution {run.resolution}, {run.scheme}, {run.steps} steps",
            run.seconds,
            watch.compiling,
            run.unknowns,
            run.errors,
            end,
        )


class Forecast(NamedTuple):
    """What to run, and the error expected of it."""

    error: float
    scheme: str
    steps: int


@dataclass(frozen=True, eq=False)
class FemRun:
    """A finished run: its choices, its seconds, of them in the march, its values and errors."""

    resolution: int
    scheme: str
    steps: int
    unknowns: int
    seconds: float
    march_seconds: float
    values: Float[Array, "k n"]
    errors: Errors


@dataclass(eq=False)
class CostModel:
    """What is expected of a run: its error and its seconds.

    `space` is the error at the resolution `known` with its order, `time` the constant of each
    scheme's; `measured` is the latest run, from which times are extrapolated.
    """

    space: float
    order: float
    known: int
    time: dict[str, float]
    measured: FemRun

    def forecast(self, resolution: int, seconds: float) -> Forecast:
        """The scheme and the number of steps that promise the least error in the seconds."""
        last = self.measured
        ratio = resolution / last.resolution
        space = self.space * (resolution / self.known) ** -self.order
        preparing = (last.seconds - last.march_seconds) * ratio**PREPARATION_GROWTH
        solving = last.march_seconds / (last.steps * _solves(last.scheme)) * ratio**SOLVE_GROWTH
        found = []
        for scheme, constant in self.time.items():
            order = SCHEMES[scheme].order
            # More steps than make the time error a tenth of the other are wasted.
            enough = int(np.ceil((10 * constant / space) ** (1 / order)))
            fit = int((SAFETY * seconds - preparing) / (solving * _solves(scheme)))
            if fit >= FEWEST_STEPS:
                steps = max(FEWEST_STEPS, min(enough, fit))
                found.append(Forecast(space + constant * steps**-order, scheme, steps))
        return min(found, default=Forecast(np.inf, next(iter(self.time)), FEWEST_STEPS))


def pilot(problem: Problem, end: float, truth: Truth) -> CostModel:
    """Measure the parts of the error on coarse meshes."""
    nonlinear = physics(problem).nonlinear
    schemes = ("ars222", "ark4") if nonlinear else ("crank-nicolson", "tr-bdf2", "ark4")

    def steady(resolution: int, scheme: str, steps: int) -> FemRun:
        """A run with `steps` steps, or two, four, eight times as many if it blows up."""
        for factor in (1, 2, 4):
            try:
                return _run(problem, end, truth, resolution, scheme, factor * steps)
            except DivergedError:
                continue
        return _run(problem, end, truth, resolution, scheme, 8 * steps)

    best = max(schemes, key=lambda name: SCHEMES[name].order)
    coarse, fine = (steady(resolution, best, 8 * PILOT_STEPS) for resolution in PILOT)
    space = max(fine.errors.worst, SMALLEST)
    order = np.log(max(coarse.errors.worst, SMALLEST) / space) / np.log(PILOT[1] / PILOT[0])
    sizes = np.array([np.linalg.norm(truth.values(t)) for t in truth.times(end)])
    time = {}
    for scheme in schemes:
        run = steady(PILOT[1], scheme, PILOT_STEPS)
        gaps = np.linalg.norm(run.values - fine.values, axis=1) / np.where(sizes > 0, sizes, 1.0)
        time[scheme] = max(float(gaps.max()), SMALLEST) * run.steps ** SCHEMES[scheme].order
    return CostModel(space, float(np.clip(order, 1.0, 3.0)), PILOT[1], time, fine)


def _best(
    problem: Problem, end: float, truth: Truth, model: CostModel, seconds: float
) -> FemRun | None:
    """The run that promises the least error in the seconds; less of it if it does not fit."""
    resolution = min(LADDER, key=lambda each: model.forecast(each, seconds).error)
    planned = model.forecast(resolution, seconds)
    for _ in range(ATTEMPTS):
        if not np.isfinite(planned.error) or planned.steps < FEWEST_STEPS:
            return None
        try:
            return _run(problem, end, truth, resolution, planned.scheme, planned.steps, seconds)
        except BudgetError as error:
            if error.phase == "march":
                planned = planned._replace(steps=planned.steps // 2)
            else:  # fewer steps would not help
                resolution = LADDER[max(0, LADDER.index(resolution) - 1)]
                planned = model.forecast(resolution, 0.8 * seconds)
        except DivergedError:
            planned = planned._replace(steps=2 * planned.steps)
    return None


def _run(
    problem: Problem,
    end: float,
    truth: Truth,
    resolution: int,
    scheme: str,
    steps: int,
    budget: float | None = None,
) -> FemRun:
    """Solve with given choices, within a budget of seconds, and measure."""
    times = truth.times(end)
    solution = solve_fem(
        problem,
        end,
        resolution=resolution,
        dt=end / steps,
        times=times,
        scheme=scheme,
        budget=budget,
    )
    values = solution.at_times(truth.points, times)
    errors = truth.errors(lambda x, t: values, end)
    assert errors is not None
    return FemRun(
        resolution,
        scheme,
        steps,
        solution.unknowns,
        solution.total_seconds,
        solution.seconds["march"],
        values,
        errors,
    )


def _solves(scheme: str) -> int:
    return len(SCHEMES[scheme].nodes) - 1
