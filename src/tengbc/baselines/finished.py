"""A baseline's solution as summaries, comparisons and figures want it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.history import Record
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Finished:
    """What `tengbc.summary` needs of a solution, whatever solver it comes from."""

    problem: Problem
    times: Float[Array, " k"]
    at_times: Callable[[Array, Array], Array]
    result: Result
    seconds: dict[str, float]
    facts: dict[str, object]
    history: Sequence[Record] = ()
    error_estimate: Float[Array, " k"] = field(default_factory=lambda: np.zeros(0))


def finished(name: str, solution: Any) -> Finished:
    """The solution of a baseline under its name; one that stopped early says so."""
    facts = {**solution.facts, "preset": name}
    facts.setdefault("parameters", facts.get("unknowns"))
    reached, end = float(solution.times[-1]), float(facts["t_end"])
    result = getattr(solution, "result", Result(Outcome.DONE))
    if result and reached < end * (1 - 1e-12):
        result = Result(Outcome.INTERRUPTED, f"stopped at t = {reached:.6g} of {end:g}.")
    return Finished(
        solution.problem, solution.times, solution.at_times, result, solution.seconds, facts
    )
