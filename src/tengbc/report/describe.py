"""The problem in formulas, and its domain as lines to draw."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tengbc.geometry.domain import Domain
from tengbc.problem import Problem
from tengbc.report.encoding import plain
from tengbc.report.grid import axis_names

SURFACE_POINTS = 220


def describe_problem(problem: Problem) -> dict[str, Any]:
    """What `problem.explain()` says, item by item, and the drawing of the domain."""
    said = dict(
        line.split("  ", 1) for line in problem.explain().splitlines() if not line.startswith(" ")
    )
    said = {label: text.strip() for label, text in said.items()}
    equation, _, kind = said["equation"].partition("    ")
    return {
        "name": problem.name,
        "equation": equation,
        "kind": kind.strip("() "),
        "domain": _rounded(problem.domain.describe()),
        "conditions": [
            {
                "segment": segment,
                "formula": law.formula,
                "length": problem.domain.segment_measure(segment),
            }
            for segment, law in problem.conditions.items()
        ],
        "initial": said["initial"],
        "solution": said["solution"],
        "normal": any("∂ₙ" in law.formula for law in problem.conditions.values()),
        "drawing": _drawing(problem.domain),
    }


def _rounded(text: str) -> str:
    """Long decimals with six digits."""
    return re.sub(r"\d+\.\d{5,}(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.6g}", text)


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
        drawing["points"] = plain(ends)
    elif domain.dim == 2:
        drawing["lines"] = [
            {"segment": segment, "xy": plain(line.tolist())}
            for segment, line in domain.outline(120)
        ]
    elif domain.dim == 3:
        drawing["surfaces"] = {segment: _surface(domain, segment) for segment in domain.segments}
    return drawing


def _surface(domain: Domain, segment: str) -> dict[str, Any]:
    """Points and normals of a surface, for a drawing made of dots."""
    points = domain.boundary(segment, SURFACE_POINTS)
    return plain({"x": points.x.tolist(), "normal": np.round(points.normal, 4).tolist()}, 4)
