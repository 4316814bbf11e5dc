"""How the documentation is built: `make docs`, warnings being errors."""

import re
import tomllib
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

project = "tengbc"
author = "The tengbc developers"
_about = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))
release = version = _about["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "tengbc"
autodoc_member_order = "bysource"
autodoc_typehints = "none"

_CODE = re.compile(r"(`[^`]+`)")


def _as_restructured_text(app, what, name, obj, options, lines):
    """Docstrings are plain text with `code` and **bold**; | _ and * mean themselves."""
    for index, line in enumerate(lines):
        parts = _CODE.split(line)
        for place, part in enumerate(parts):
            if part.startswith("`") and part.endswith("`") and len(part) > 2:
                parts[place] = f"`{part}`"
            else:
                part = re.sub(r"([|\\])", r"\\\1", part)
                part = re.sub(r"(?<!\*)\*(?!\*)", r"\\*", part)
                parts[place] = re.sub(r"(\w)_(?!\w)", r"\1\\_", part)
        lines[index] = "".join(parts)


def _mathml(display):
    """Formulas as MathML: browsers show it without a script, and without a network."""

    def visit(translator, node):
        formula = convert(node.astext(), display=display)
        padded = f'<div style="padding: 0.6em 0; overflow-x: auto">{formula}</div>'
        translator.body.append(padded if display == "block" else formula)
        raise nodes.SkipNode

    return visit, None


def setup(app):
    """Let the docstrings pass through the filter, and formulas become MathML."""
    app.add_html_math_renderer("mathml", _mathml("inline"), _mathml("block"))
    app.connect("autodoc-process-docstring", _as_restructured_text)
