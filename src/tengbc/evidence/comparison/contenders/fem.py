"""Finite elements: for a part of the time and for all of it, the best mesh and steps in it.

What a run will cost and how accurate it will be is found by pilot runs on coarse meshes, which are
not timed: they stand for a user's experience. They split the error into its parts,

    error ≈ A·resolution⁻ᵖ + B·steps⁻ᵠ,

the first measured against the truth, the second for each scheme against finer steps on the same
mesh.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.fem import BudgetError, FemSolution, solve_fem
from tengbc.evidence.baselines.fem.schemes import SCHEMES
from tengbc.evidence.baselines.fem.weak_form import physics
from tengbc.evidence.comparison.trial import Contest, Trial, Watch
from tengbc.solution.measure import Errors
from tengbc.timing import Stopwatch

Array = np.ndarray
SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
"""Parts of the seconds that are left, for which there is a run each."""
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


def trials(contest: Contest) -> Iterator[Trial]:
    """A run for each share of the seconds, planned from pilot runs."""
    contest.progress("fem pilot", 0.0, {})
    model = pilot(contest)
    contest = replace(contest, watch=Watch(contest.seconds))
    for share in SHARES:
        contest.progress("fem", share, {})
        watch = Stopwatch()
        run = _best(contest, model, share * contest.watch.left)
        if run is None:
            continue
        model.measured = run
        setting, seconds = f"{run.choice}", run.solution.total_seconds
        unknowns, march = run.solution.unknowns, run.solution.seconds["march"]
        known = (unknowns, run.errors, contest.end)
        yield Trial(setting, seconds, watch.compiling, *known, march=march)


class Choice(NamedTuple):
    """What to run."""

    resolution: int
    scheme: str
    steps: int

    def __str__(self) -> str:
        return f"resolution {self.resolution}, {self.scheme}, {self.steps} steps"


class FemRun(NamedTuple):
    """A finished run: what was run, the solution, its values where errors are taken, and these."""

    choice: Choice
    solution: FemSolution
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

    def forecast(self, resolution: int, seconds: float) -> tuple[float, Choice]:
        """The least error in the seconds, and the scheme and number of steps that promise it."""
        last, spent = self.measured.choice, self.measured.solution.seconds["march"]
        ratio = resolution / last.resolution
        space = self.space * (resolution / self.known) ** -self.order
        preparing = (self.measured.solution.total_seconds - spent) * ratio**PREPARATION_GROWTH
        solving = spent / (last.steps * _solves(last.scheme)) * ratio**SOLVE_GROWTH
        found = []
        for scheme, constant in self.time.items():
            order = SCHEMES[scheme].order
            # More steps than make the time error a tenth of the other are wasted.
            enough = int(np.ceil((10 * constant / space) ** (1 / order)))
            fit = int((SAFETY * seconds - preparing) / (solving * _solves(scheme)))
            if fit >= FEWEST_STEPS:
                steps = max(FEWEST_STEPS, min(enough, fit))
                error = space + constant * steps**-order
                found.append((error, Choice(resolution, scheme, steps)))
        nothing = (np.inf, Choice(resolution, next(iter(self.time)), FEWEST_STEPS))
        return min(found, default=nothing)


def pilot(contest: Contest) -> CostModel:
    """Measure the parts of the error on coarse meshes."""
    nonlinear = physics(contest.problem).nonlinear
    schemes = ("ars222", "ark4") if nonlinear else ("crank-nicolson", "tr-bdf2", "ark4")

    def steady(resolution: int, scheme: str, steps: int) -> FemRun:
        """A run with `steps` steps, or two, four, eight times as many if it blows up."""
        for factor in (1, 2, 4):
            try:
                return _run(contest, Choice(resolution, scheme, factor * steps))
            except DivergedError:
                continue
        return _run(contest, Choice(resolution, scheme, 8 * steps))

    best = max(schemes, key=lambda name: SCHEMES[name].order)
    coarse, fine = (steady(resolution, best, 8 * PILOT_STEPS) for resolution in PILOT)
    space = max(fine.errors.worst, SMALLEST)
    order = np.log(max(coarse.errors.worst, SMALLEST) / space) / np.log(PILOT[1] / PILOT[0])
    truth = contest.truth
    sizes = np.array([np.linalg.norm(truth.values(t)) for t in truth.times(contest.end)])
    time = {}
    for scheme in schemes:
        run = steady(PILOT[1], scheme, PILOT_STEPS)
        gaps = np.linalg.norm(run.values - fine.values, axis=1) / np.where(sizes > 0, sizes, 1.0)
        time[scheme] = max(float(gaps.max()), SMALLEST) * run.choice.steps ** SCHEMES[scheme].order
    return CostModel(space, float(np.clip(order, 1.0, 3.0)), PILOT[1], time, fine)


def _best(contest: Contest, model: CostModel, seconds: float) -> FemRun | None:
    """The run that promises the least error in the seconds; less of it if it does not fit."""
    expected, choice = min(model.forecast(resolution, seconds) for resolution in LADDER)
    for _ in range(ATTEMPTS):
        if not np.isfinite(expected) or choice.steps < FEWEST_STEPS:
            return None
        try:
            return _run(contest, choice, min(seconds, contest.watch.left))
        except BudgetError as error:
            if error.phase == "march":
                choice = choice._replace(steps=choice.steps // 2)
            else:  # fewer steps would not help
                coarser = LADDER[max(0, LADDER.index(choice.resolution) - 1)]
                expected, choice = model.forecast(coarser, 0.8 * seconds)
        except DivergedError:
            choice = choice._replace(steps=2 * choice.steps)
    return None


def _run(contest: Contest, choice: Choice, budget: float | None = None) -> FemRun:
    """Solve with given choices, within a budget of seconds, and measure."""
    end, times = contest.end, contest.truth.times(contest.end)
    resolution, scheme, steps = choice
    given = {"resolution": resolution, "scheme": scheme, "dt": end / steps, "times": times}
    solution = solve_fem(contest.problem, end, budget=budget, **given)
    values = solution.at_times(contest.truth.points, times)
    return FemRun(choice, solution, values, contest.errors(lambda x, t: values))


def _solves(scheme: str) -> int:
    return len(SCHEMES[scheme].nodes) - 1
