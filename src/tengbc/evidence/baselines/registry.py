"""The baselines by name: what each accepts and what the paper chose; no heavy imports.

A new baseline is a function `solve(problem, t_end, *, progress, …) -> AbstractBaselineSolution` and
one line in `BASELINES`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tengbc.errors import UsageError

if TYPE_CHECKING:
    import numpy as np

    from tengbc.evidence.baselines.solution import AbstractBaselineSolution
    from tengbc.problem import Problem
    from tengbc.types import Progress


@dataclass(frozen=True)
class Baseline:
    """Where a solver is, what a user may choose, what is fixed, and the paper's own choices."""

    home: str
    accepts: tuple[str, ...]
    stores_times: bool = True
    fixed: dict[str, Any] = field(default_factory=dict)
    paper: dict[str, Any] = field(default_factory=dict)


_PINN = ("tengbc.evidence.baselines.pinn:solve_pinn", ("seconds", "steps", "seed", "points"), False)
_PINN_PAPER = {"steps": 100_000, "points": (100_000, 15_000, 10_000)}
BASELINES = {
    "fem": Baseline(
        "tengbc.evidence.baselines.fem:solve_fem",
        ("resolution", "dt", "scheme"),
        paper={"resolution": 256, "dt": 1e-4},
    ),
    "spectral": Baseline(
        "tengbc.evidence.baselines.spectral:solve_spectral",
        ("resolution", "dt"),
        paper={"resolution": 1024, "dt": 1e-4},
    ),
    "pinn-bfgs": Baseline(*_PINN, fixed={"optimiser": "bfgs"}, paper=_PINN_PAPER),
    "pinn-engd": Baseline(*_PINN, fixed={"optimiser": "engd"}, paper=_PINN_PAPER),
}


def check_baseline(name: str, choices: dict[str, Any]) -> None:
    """Refuse names and choices that cannot be right, before anything is imported."""
    if name not in BASELINES:
        raise UsageError(f"There is no baseline {name!r}; choose one of {', '.join(BASELINES)}.")
    accepts = BASELINES[name].accepts
    for choice, value in choices.items():
        if choice not in accepts:
            raise UsageError(f"{name} has no option {choice!r}; it has {', '.join(accepts)}.")
        if isinstance(value, int | float) and choice != "seed" and not value > 0:
            raise UsageError(f"{choice} is {value}, but it must be positive; change it.")


def run_baseline(
    name: str,
    problem: Problem,
    t_end: float | None = None,
    *,
    times: Sequence[float] | np.ndarray | None = None,
    progress: Progress = lambda phase, fraction, known: None,
    **choices: Any,
) -> AbstractBaselineSolution:
    """Solve a problem with a baseline; `times` are those its solution must know."""
    check_baseline(name, choices)
    from tengbc.outcome import Outcome, Result

    baseline = BASELINES[name]
    module, _, function = baseline.home.partition(":")
    solve = getattr(importlib.import_module(module), function)
    if baseline.stores_times and times is not None:
        choices["times"] = times
    solution = solve(problem, t_end, progress=progress, **baseline.fixed, **choices)
    reached, end, result = float(solution.times[-1]), solution.facts["t_end"], solution.result
    if result and reached < end * (1 - 1e-12):
        result = Result(Outcome.INTERRUPTED, f"stopped at t = {reached:.6g} of {end:g}.")
    return replace(solution, result=result, facts={**solution.facts, "preset": name})
