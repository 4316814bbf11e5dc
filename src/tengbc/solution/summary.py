"""summary.json: the contract for scripts."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tengbc.options import Options
from tengbc.outcome import Result
from tengbc.problem import Problem
from tengbc.provenance import versions
from tengbc.solution.measure import Errors, Truth
from tengbc.solution.protocol import SolutionLike


def measure(solution: SolutionLike) -> Errors | None:
    """The errors of a solution over all the time it was solved for, if the truth is known."""
    return Truth(solution.problem).errors(solution.at_times, float(solution.times[-1]))


def summary(
    solution: SolutionLike, errors: Errors | None, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """All that `summary.json` says; errors are None where they were not measured."""
    estimates = solution.error_estimate[np.isfinite(solution.error_estimate)]
    return {
        "problem": solution.problem.name,
        **solution.facts,
        "outcome": solution.result.outcome.value,
        "message": solution.result.message,
        "t_reached": float(solution.times[-1]),
        "relative_l2_max": errors and _known(errors.worst),
        "relative_l2_full": errors and _known(errors.full),
        "relative_l2_final": errors and errors.final,
        "relative_l2_by_time": errors and errors.by_time,
        "initial_fit_error": errors and errors.by_time[0][1],
        "error_estimate_max": float(estimates.max()) if estimates.size else None,
        "seconds": {name: round(s, 4) for name, s in {**solution.seconds, **seconds}.items()},
        "versions": versions(),
    }


def _known(error: float) -> float | None:
    return error if np.isfinite(error) else None


def failed_summary(
    problem: Problem, options: Options, result: Result, seconds: float
) -> dict[str, Any]:
    """The same of a run that ended before there was any solution: what was asked for, and why."""
    unknown = ("t_reached", "steps", "parameters", "interior_points", "boundary_points")
    errors = ("max", "full", "final", "by_time")
    return {
        "problem": problem.name,
        **options.model_dump(mode="json"),
        **dict.fromkeys(unknown),
        "outcome": result.outcome.value,
        "message": result.message,
        **{f"relative_l2_{name}": None for name in errors},
        "initial_fit_error": None,
        "error_estimate_max": None,
        "seconds": {"total": round(seconds, 4)},
        "versions": versions(),
    }
