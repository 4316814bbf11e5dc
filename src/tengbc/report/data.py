"""All that a report shows, as plain JSON: `report-data.json`, from which it can be remade."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tengbc.errors import TengbcError
from tengbc.geometry.domain import Domain
from tengbc.geometry.grids import axis_names
from tengbc.history import Record
from tengbc.problem import Problem
from tengbc.report.from_directory import FORMAT, VERSION
from tengbc.report.pictures import picture_data
from tengbc.solution import Solution
from tengbc.storage.checksummed import plain

MOST_STEPS = 800
"""Of a longer history every k-th step is drawn."""
SURFACE_POINTS = 220
"""Dots on each surface of a solid."""


def report_data(
    solution: Solution, summary: dict[str, Any], command: str | None, written: str
) -> dict[str, Any]:
    """The summary, the problem, the history and the pictures of a run."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "written": written,
        "command": command,
        "summary": summary,
        "problem": problem_data(solution.problem),
        "features": solution.body.words,
        "balance": _balance(solution),
        "estimate": _estimate(solution),
        "history": history_data(solution.history),
        "pictures": picture_data(solution),
    }


def history_data(history: Sequence[Record]) -> dict[str, Any]:
    """Columns of the history, thinned where it is long; the last step always stays."""
    stride = -(-len(history) // MOST_STEPS) or 1
    kept = [*history[::stride], *history[-1:]] if stride > 1 else list(history)
    names = list(dict.fromkeys(name for record in kept for name in record.measured))
    return plain(
        {
            "steps": len(history),
            "time": [record.time for record in kept],
            "measured": {name: [record.measured.get(name) for record in kept] for name in names},
        },
        6,
    )


def _estimate(solution: Solution) -> dict[str, Any] | None:
    known = np.flatnonzero(np.isfinite(solution.error_estimate))
    if not known.size:
        return None
    kept = known[:: -(-len(known) // MOST_STEPS)]
    return plain({"time": solution.times[kept], "value": solution.error_estimate[kept]}, 6)


def _balance(solution: Solution) -> dict[str, Any] | None:
    """The balance of each component; None where the equation does not state what it needs.

    Features that move are evaluated anew for every time, which would take minutes.
    """
    if not solution.frozen or len(solution.times) < 2:
        return None
    try:
        found = solution.balance()
    except TengbcError:
        return None
    columns = {
        name if part.ndim == 1 else f"{name}, {found.names[k]}": rows
        for name, part in found.columns().items()
        for k, rows in enumerate(part.reshape(len(part), -1).T)
    }
    return plain({"closes": found.closes, "time": found.times, "parts": columns}, 6)


def problem_data(problem: Problem) -> dict[str, Any]:
    """The problem in formulas, and its domain as lines to draw."""
    texts = dict(problem.described())
    six_digits = lambda found: f"{float(found[0]):.6g}"
    return {
        "name": problem.name,
        "equation": f"∂ₜu = {problem.equation.formula}",
        "kind": problem.kind,
        "domain": re.sub(r"\d+\.\d{5,}(?:e[-+]?\d+)?", six_digits, problem.domain.describe()),
        "conditions": [
            {
                "segment": name,
                "formula": law.formula,
                "length": problem.domain.segment_measure(name),
            }
            for name, law in problem.conditions.items()
        ],
        "initial": texts["initial"],
        "solution": texts["solution"],
        "normal": problem.uses_normal,
        "time": problem.naming.time,
        "drawing": _drawing(problem.domain),
    }


def _drawing(domain: Domain) -> dict[str, Any]:
    lower, upper = domain.bounds
    drawing: dict[str, Any] = {
        "dim": domain.dim,
        "axes": axis_names(domain.dim),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
        "periodic": domain.periodic,
    }
    if domain.dim == 1:
        ends = {segment: domain.boundary(segment).x[0].tolist() for segment in domain.segments}
        drawing["points"] = plain(ends, 6)
    elif domain.dim == 2:
        lines = domain.outline(120)
        drawing["lines"] = [{"segment": name, "xy": plain(line, 6)} for name, line in lines]
    elif domain.dim == 3:
        dots = [domain.boundary(segment, SURFACE_POINTS) for segment in domain.segments]
        drawing["surfaces"] = {
            points.segment: plain({"x": points.x, "normal": np.round(points.normal, 4)}, 4)
            for points in dots
        }
    return drawing
