"""What a file holds of a problem, and the problem that comes of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengbc import problems
from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain
from tengbc.problem import Problem
from tengbc.storage.kinds import decode, encode, plain
from tengbc.storage.stand_in import StoredProblem

WITNESSES = 8
"""Points at which initial values are compared, to know a benchmark problem again."""


def describe_problem(problem: Problem) -> dict[str, Any]:
    """Its domain and numbers, its formulas as text, and a few initial values to know it by."""
    stored = isinstance(problem, StoredProblem)
    points = problem.domain.interior(WITNESSES).x
    return {
        "name": problem.name,
        "domain": encode(problem.domain),
        "t_end": plain(problem.t_end),
        "rtol": plain(problem.rtol),
        "equation": problem.equation.formula,
        "conditions": {segment: law.formula for segment, law in problem.conditions.items()},
        "explanation": problem.explain(),
        "initial": [] if stored else plain(problem.initial(points)),
    }


def restore_problem(
    content: dict[str, Any], shape: tuple[int, ...], given: Problem | None
) -> Problem:
    """The problem the user gives, the benchmark of that name, or a stand-in without functions."""
    if given is not None:
        if encode(given.domain) != content["domain"] or given.shape != shape:
            raise UsageError(
                f"The problem passed is a field of shape {given.shape} on {given.domain!r}, and "
                f"the file holds another; pass the problem that was solved."
            )
        return given
    name = content["name"]
    if name in problems.CATALOG:
        benchmark = problems.get(name)
        if _alike(describe_problem(benchmark), content):
            return benchmark
    return StoredProblem(
        decode(content["domain"], Domain),
        shape,
        name,
        content["t_end"],
        content["rtol"],
        content["equation"],
        content["conditions"],
        content["explanation"],
    )


def _alike(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether a user's problem that bears a benchmark's name is that benchmark."""
    if any(ours[name] != theirs[name] for name in ("domain", "equation", "conditions")):
        return False
    first, second = (np.array(content["initial"], dtype=float) for content in (ours, theirs))
    # Another machine may round otherwise.
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-9, atol=1e-12))
