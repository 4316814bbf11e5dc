"""The page of one run."""

from __future__ import annotations

from typing import Any

from tengbc.report.charts import charts
from tengbc.report.drawing import colour, drawing
from tengbc.report.numbers import duration, number
from tengbc.report.render import render
from tengbc.report.verdict import verdict

PARTS = {
    "import": "starting Python and JAX",
    "compile": "compiling",
    "initial_fit": "fitting the initial values",
    "march": "marching in time",
    "other": "the rest: points, error estimate, files",
}
"""What each part of the time is called, in the order of a run."""


def report_page(data: dict[str, Any]) -> str:
    """report.html as text."""
    summary, problem = data["summary"], data["problem"]
    curves = charts(data)
    segments = [condition["segment"] for condition in problem["conditions"]] if problem else []
    if problem:
        coloured = [
            one | {"colour": colour(segments, one["segment"])} for one in problem["conditions"]
        ]
        problem = problem | {"conditions": coloured}
    pictures = data["pictures"]
    return render(
        "report.html",
        {"charts": curves, "pictures": [pictures] if pictures else [], "alike": False},
        name=summary["problem"] or "Your problem",
        verdict=verdict(summary),
        facts=_facts(summary, data["history"]["steps"]),
        problem=problem,
        drawing=drawing(problem["drawing"], segments) if problem else None,
        pictures=pictures,
        charts=curves,
        spent=spent(summary["seconds"]),
        command=data["command"],
        settings=_settings(summary),
        footer=f"Written by tengbc {summary['versions']['tengbc']} on {data['written']}.",
    )


def _facts(summary: dict[str, Any], done: int) -> list[tuple[str, str]]:
    measured, estimated = summary.get("relative_l2_max"), summary.get("error_estimate_max")
    planned = summary["steps"]
    facts = [
        ("largest relative error", number(measured) if measured is not None else None),
        (
            "estimated error" if measured is None else "estimate of it",
            number(estimated) if estimated is not None else None,
        ),
        ("asked for", number(summary["rtol"]) if summary.get("rtol") is not None else None),
        ("time taken", duration(summary["seconds"].get("total"))),
        (
            "solved to",
            f"t = {number(summary['t_end'], 4)}" if summary["outcome"] == "done" else None,
        ),
        ("steps", f"{planned:,}" if done >= planned else f"{done:,} of {planned:,}"),
        ("parameters", f"{summary['parameters']:,}"),
    ]
    return [(label, value) for label, value in facts if value is not None]


def _settings(summary: dict[str, Any]) -> list[tuple[str, str]]:
    inside, rim = (f"{summary[name]:,}" for name in ("interior_points", "boundary_points"))
    versions = ", ".join(f"{name} {value}" for name, value in summary["versions"].items())
    return [
        ("preset and scheme", f"{summary['preset']}, {summary['scheme']}"),
        ("time", f"0 to {number(summary['t_end'], 4)}, step {number(summary['dt'], 3)}"),
        ("points", f"{inside} inside, {rim} on the boundary"),
        ("seed", str(summary["seed"])),
        ("outcome", summary["outcome"]),
        ("versions", versions),
    ]


def spent(seconds: dict[str, float]) -> list[dict[str, Any]]:
    """The parts of the time, the unnamed rest too, with their share of the whole."""
    total = seconds.get("total")
    parts = {name: value for name, value in seconds.items() if name != "total"}
    if total is not None:
        parts["other"] = max(total - sum(parts.values()), 0.0)
    whole = sum(parts.values()) or 1.0
    order = [*(name for name in PARTS if name in parts), *(n for n in parts if n not in PARTS)]
    return [
        {
            "name": PARTS.get(name, name),
            "seconds": round(parts[name], 4),
            "text": duration(parts[name]),
            "share": f"{parts[name] / whole:.0%}",
            "colour": index % 8,
        }
        for index, name in enumerate(order)
    ]
