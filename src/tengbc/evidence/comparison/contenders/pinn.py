"""Space–time networks: one training, looked at several times."""

from collections.abc import Iterator
from functools import partial

from tengbc.evidence.baselines.pinn import solve_pinn
from tengbc.evidence.comparison.trial import Contest, Trial

SHARES = (1 / 8, 1 / 4, 1 / 2)


def _trials(optimiser: str, contest: Contest) -> Iterator[Trial]:
    """Trainings are long: one of them is looked at after parts of the seconds."""
    solution = solve_pinn(
        contest.problem,
        contest.end,
        optimiser=optimiser,
        seconds=contest.seconds,
        snapshots=[share * contest.seconds for share in SHARES],
        progress=lambda phase, *told: contest.progress(f"pinn-{optimiser}", *told),
    )
    compiling, unknowns = solution.seconds["compile"], solution.unknowns
    for snapshot in solution.snapshots:
        setting, note = f"{snapshot.step} steps", f"loss {snapshot.loss:.1e}"
        errors = contest.errors(solution.at(snapshot).at_times)
        yield Trial(setting, snapshot.seconds, compiling, unknowns, errors, contest.end, note=note)


bfgs_trials = partial(_trials, "bfgs")
engd_trials = partial(_trials, "engd")
