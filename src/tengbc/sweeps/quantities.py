"""Numbers that a sweep takes from each solution: `integral`, `flux:circle`, `value:0.5,0.2`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tengbc.errors import UsageError

if TYPE_CHECKING:
    from tengbc.problem import Problem
    from tengbc.solution import Solution

END = "end"
"""What the time is called where none was given: the last one that the run has reached."""
KNOWN = "integral, flux, flux:SEGMENT or value:X,Y"


def check_name(name: Any) -> str:
    """A quantity's name as far as it can be checked without the problem."""
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    known = {"integral": not rest, "flux": True, "value": _point(rest) is not None}
    if not known.get(kind, False):
        raise UsageError(f"There is no quantity {name!r}; write {KNOWN}.")
    return name


def check_against(problem: Problem, name: str) -> None:
    """Refuse a segment that the domain does not have, and a point of another space."""
    kind, _, rest = name.partition(":")
    if kind == "flux" and rest and rest not in problem.domain.segments:
        segments = ", ".join(problem.domain.segments) or "none"
        raise UsageError(
            f"The quantity {name!r} names no part of the boundary; choose from {segments}."
        )
    if kind == "value" and len(_point(rest) or ()) != problem.domain.dim:
        raise UsageError(
            f"The quantity {name!r} is not at a point of {problem.domain.dim} coordinates; give it "
            f"as many."
        )


def measured(solution: Solution, name: str, times: Sequence[float] | None) -> dict[str, Any]:
    """The quantity by time, named by its digits; None at times that the run did not reach."""
    reached = float(solution.times[-1])
    wanted = dict(zip(time_keys(times), times or [reached], strict=True))
    known = {key: t for key, t in wanted.items() if t <= reached * (1 + 1e-12)}
    values = _at(solution, name, list(known.values())) if known else []
    found = dict(zip(known, values, strict=True))
    return {key: _plain(found[key]) if key in found else None for key in wanted}


def time_keys(times: Sequence[float] | None) -> list[str]:
    """What the times are called: their digits, or `end`."""
    return [END] if times is None else [f"{float(t):.12g}" for t in times]


def _at(solution: Solution, name: str, times: list[float]) -> Any:
    kind, _, rest = name.partition(":")
    if kind == "integral":
        return solution.integral(times)
    if kind == "flux":
        return solution.flux(rest or None, times)
    return solution.at_times([_point(rest) or []], times)[:, 0]


def _plain(value: Any) -> Any:
    """A number, or one for each component; None for what is not finite, which JSON cannot say."""
    if getattr(value, "ndim", 0):
        return [_plain(one) for one in value]
    return float(value) if math.isfinite(value) else None


def _point(text: str) -> list[float] | None:
    try:
        point = [float(part) for part in text.split(",")]
    except ValueError:
        return None
    return point if all(map(math.isfinite, point)) else None
