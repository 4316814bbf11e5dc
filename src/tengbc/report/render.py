"""HTML from a template, with its style, script and data inside."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

SCRIPTS = ("numbers.js", "colours.js", "chart.js", "field.js", "viewer.js", "page.js")


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


def render(template: str, payload: dict[str, Any], **values: Any) -> str:
    """A page; `payload` is what its script works with."""
    return (
        _environment()
        .get_template(template)
        .render(style=_inlined("style.css"), script=_inlined(*SCRIPTS), payload=payload, **values)
    )
