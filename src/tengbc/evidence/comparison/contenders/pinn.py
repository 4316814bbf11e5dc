"""Space–time networks: one training, looked at several times."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tengbc.evidence.baselines.pinn import solve_pinn
from tengbc.evidence.comparison.trial import Trial
from tengbc.problem import Problem
from tengbc.solution.measure import Truth
from tengbc.types import Progress

SHARES = (1 / 8, 1 / 4, 1 / 2)


def _trials(
    optimiser: str, problem: Problem, end: float, seconds: float, truth: Truth, report: Progress
) -> Iterator[Trial]:
    """Trainings are long: one of them is looked at after parts of the seconds."""

    def watched(phase: str, fraction: float, known: dict) -> None:
        report(f"pinn-{optimiser}", fraction, known)

    solution = solve_pinn(
        problem,
        end,
        optimiser=optimiser,
        seconds=seconds,
        snapshots=[share * seconds for share in SHARES],
        report=watched,
    )
    for snapshot in solution.snapshots:
        errors = truth.errors(solution.at(snapshot).at_times, end)
        assert errors is not None
        yield Trial(
            f"{snapshot.step} steps",
            snapshot.seconds,
            solution.seconds["compile"],
            solution.unknowns,
            errors,
            end,
            note=f"loss {snapshot.loss:.1e}",
        )


bfgs_trials = partial(_trials, "bfgs")
engd_trials = partial(_trials, "engd")
