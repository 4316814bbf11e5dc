"""summary.json: the contract for scripts."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import numpy as np

from tengbc.solver import Solution
from tengbc.solver.measure import Errors, Truth

PACKAGES = ("tengbc", "jax", "jaxlib", "numpy", "scipy", "equinox")


def versions() -> dict[str, str]:
    """Python and the packages that decide a result's bits."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def measure(solution: Solution) -> Errors | None:
    """The errors of a solution over all the time it was solved for, if the truth is known."""
    return Truth(solution.problem).errors(solution.at_times, float(solution.times[-1]))


def summary(solution: Solution, errors: Errors | None, seconds: dict[str, float]) -> dict[str, Any]:
    """All that `summary.json` says; errors are None where no exact solution is known."""
    spent = {**solution.seconds, **seconds}
    estimates = solution.error_estimate
    known = estimates[np.isfinite(estimates)]
    return {
        "problem": solution.problem.name,
        **solution.facts,
        "outcome": solution.result.outcome.value,
        "message": solution.result.message,
        "relative_l2_max": errors and errors.worst,
        "relative_l2_full": errors and errors.full,
        "relative_l2_final": errors and errors.final,
        "relative_l2_by_time": errors and errors.by_time,
        "initial_fit_error": errors and errors.by_time[0][1],
        "error_estimate_max": float(known.max()) if known.size else None,
        "seconds": {name: round(value, 4) for name, value in spent.items()},
        "versions": versions(),
    }
