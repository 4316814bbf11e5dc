"""HTML from templates, with style, script and data inside; the page of one run."""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tengbc.report.charts import charts
from tengbc.report.drawing import colour, drawing
from tengbc.report.numbers import duration
from tengbc.report.verdict import balance_sentence, facts, settings, verdict

SCRIPTS = ("numbers.js", "colours.js", "chart.js", "field.js", "viewer.js", "page.js")
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
    segments = [one["segment"] for one in problem["conditions"]] if problem else []
    if problem:
        laws = problem["conditions"]
        coloured = [one | {"colour": colour(segments, one["segment"])} for one in laws]
        problem = problem | {"conditions": coloured}
    pictures, version = data["pictures"], summary.get("versions", {}).get("tengbc")
    maker, written = f"tengbc {version}" if version else "tengbc", data["written"]
    return render(
        "report.html",
        {"charts": curves, "pictures": [pictures] if pictures else [], "alike": False},
        name=summary.get("problem") or "Your problem",
        verdict=verdict(summary),
        balance=balance_sentence(data.get("balance")),
        facts=facts(summary, data["history"]["steps"]),
        problem=problem,
        drawing=drawing(problem["drawing"], segments) if problem else None,
        pictures=pictures,
        charts=curves,
        spent=spent(summary.get("seconds", {})),
        command=data["command"],
        settings=settings(summary, data.get("features", "")),
        footer=f"Written by {maker} on {written}." if written else f"From a run of {maker}.",
    )


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


def render(
    template: str, payload: dict[str, Any], scripts: Sequence[str] = SCRIPTS, **values: Any
) -> str:
    """A page; `payload` is what its scripts work with."""
    style, script = _inlined("style.css"), _inlined(*scripts)
    page = _environment().get_template(template)
    return page.render(style=style, script=script, payload=payload, **values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("tengbc.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _inlined(*names: str) -> Markup:
    """Our own files as they are; nothing a user wrote is ever marked as safe."""
    page = resources.files("tengbc.report").joinpath("page")
    return Markup("\n".join(page.joinpath(name).read_text("utf-8") for name in names))
