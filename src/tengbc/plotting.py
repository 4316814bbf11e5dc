"""Figures without a display: matplotlib, loaded when a figure is drawn and not before."""

import importlib
from pathlib import Path
from typing import Any

from tengbc.optional import extra

SVG_FONT = {"svg.fonttype": "path", "svg.hashsalt": "tengbc"}
"""The same figure gives the same file."""


def matplotlib_figure() -> Any:
    """The module `matplotlib.figure`, or a sentence that says how to get it."""
    return extra("matplotlib.figure", "A figure", "plot")


def new_figure(rows: int = 1, columns: int = 1, *, width: float, height: float) -> tuple[Any, Any]:
    """A figure of the given size in inches and its axes, an array where there are several."""
    figure = matplotlib_figure().Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns)


def finish_axis(axis: Any, title: str, label: str = "", legend: bool = True) -> None:
    """Title, name of the horizontal axis, a faint grid, and a legend where lines have names."""
    axis.set_title(title)
    axis.set_xlabel(label)
    axis.grid(alpha=0.3)
    if legend and axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize="small")


def save_figure(figure: Any, stem: Path, dpi: int = 110) -> list[Path]:
    """Write stem.png and stem.svg, without a date in them."""
    matplotlib = importlib.import_module("matplotlib")
    paths = [stem.with_name(stem.name + suffix) for suffix in (".png", ".svg")]
    with matplotlib.rc_context(SVG_FONT):
        figure.savefig(paths[0], dpi=dpi, metadata={"Software": None})
        figure.savefig(paths[1], dpi=dpi, metadata={"Date": None})
    return paths
