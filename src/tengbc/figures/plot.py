"""Pictures of a solution or of its error: at one time, at several, or in motion."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError, file_errors
from tengbc.figures.views import View, views
from tengbc.geometry import Domain, Rectangle, checks
from tengbc.geometry.mesh import triangulate
from tengbc.naming import Naming, indexed
from tengbc.optional import extra, pyplot
from tengbc.pointwise import as_time
from tengbc.progress import shown
from tengbc.types import Progress

if TYPE_CHECKING:
    from tengbc.solution import Solution

Array = np.ndarray
VALUES, SIGNED = "viridis", "PuOr_r"
"""Colour maps that people with colour-blindness can read."""
ELSEWHERE = "choose another place"
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, for the same reason."""


@dataclass(frozen=True, eq=False)
class Picture:
    """Points `x` of a view, triangles between them, and the lines at its edge."""

    view: View
    x: Float[Array, "n d"]
    triangles: Int[Array, "t 3"] | None = None
    outline: Sequence[Float[Array, "_ 2"]] = ()

    @property
    def shown(self) -> Float[Array, "n s"]:
        """The coordinates in the picture."""
        return self.x[:, self.view.axes]

    @property
    def title(self) -> str:
        """Where a slice lies."""
        return ", ".join(f"{indexed('x', axis)} = {at:.3g}" for axis, at in self.view.fixed)

    def label(self, axes: Any, named: Callable[[str], str]) -> None:
        """Names at the axes, and equal scales in the plane."""
        first, *second = (named(indexed("x", axis)) for axis in self.view.axes)
        axes.set_xlabel(first)
        if second:
            axes.set_ylabel(second[0])
            axes.set_aspect("equal")
            for spine in axes.spines.values():
                spine.set_visible(False)
            for line in self.outline:
                axes.plot(*line.T, color="#333333", linewidth=0.8, zorder=3)


def pictures(domain: Domain) -> list[Picture]:
    """One picture in one and two dimensions, the three middle slices in three."""
    if domain.dim > 3:
        raise UsageError(
            f"A domain of dimension {domain.dim} cannot be drawn; "
            f"evaluate the solution on a line or a plane of your choice."
        )
    if domain.dim == 1:
        (line,) = views(domain)
        return [Picture(line, domain.evaluation_grid(1001))]
    return [_filled(view) for view in views(domain)]


def _filled(view: View) -> Picture:
    domain = view.domain
    section = domain if domain.dim == 2 else domain.middle_slice(view.axes)
    plane = section or Rectangle(*(corner.tolist() for corner in view.bounds))
    points, triangles = triangulate(plane, across=90)
    outline = [line for _, line in plane.outline(400)] if plane.segments else []
    x = view.place(points)
    if section is None:  # the box around it, less what lies outside
        inside = domain.contains(x)
        triangles = triangles[inside[triangles].all(axis=1)]
        outline = outline if inside.all() else []
    return Picture(view, x, triangles, outline)


def plot(
    solution: Solution,
    t: float | Sequence[float] | None = None,
    *,
    component: int | str | None = None,
    ax: Any = None,
) -> Any:
    """u at time t, or at several times side by side; Axes come back, one or an array of them."""
    return _draw(solution, solution.at_times, t, component, ax, "", VALUES)


def plot_error(
    solution: Solution,
    t: float | Sequence[float] | None = None,
    *,
    component: int | str | None = None,
    ax: Any = None,
) -> Any:
    """u − u* at time t, u* being the exact solution, on a scale that is symmetric about zero."""
    problem = solution.problem
    if problem.exact_function is None:
        raise UsageError(
            f"The error of {problem.name or 'this problem'} cannot be drawn, because no exact "
            f"solution is known; solution.error_estimate says how large it is."
        )

    def error(x: Array, times: list[float]) -> Array:
        return solution.at_times(x, times) - np.stack([problem.exact(x, time) for time in times])

    return _draw(solution, error, t, component, ax, " − exact", SIGNED)


def animate(
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    frames: int = 60,
    fps: int = 20,
    component: int | str = 0,
    dpi: int = 100,
    progress: Progress | bool | None = None,
) -> Path:
    """Write u from 0 to the end as .gif, or as .mp4 where ffmpeg exists; the path comes back.

    The scale stays the same in all frames, which are equally far apart in time. `progress` is as
    for `solve`.
    """
    target = Path(path)
    frames, fps, dpi = (
        checks.whole(value, name, least, 100_000)
        for value, name, least in ((frames, "frames", 1), (fps, "fps", 1), (dpi, "dpi", 10))
    )
    writer = _writer(target, fps)
    times = np.linspace(0.0, solution.times[-1], max(2, frames))
    look = pictures(solution.problem.domain)[0]
    naming = solution.problem.naming
    chosen = naming.index(component)
    values = _components(solution.at_times(look.x, times))[:, :, chosen]
    low, high = limits([values], VALUES)
    figure, axes = pyplot().subplots(layout="constrained", dpi=dpi)
    if look.triangles is None:
        (line,) = axes.plot(look.shown[:, 0], values[0], color="#0072B2")
        margin = 0.05 * (high - low)
        axes.set_ylim(low - margin, high + margin)
        axes.set_ylabel(naming.labels[chosen])
        look.label(axes, naming.axis)
        update = lambda frame: line.set_ydata(values[frame])
    else:
        picture = fill(axes, look, values[0], low, high, VALUES, naming.axis)
        figure.colorbar(picture, ax=axes, label=naming.labels[chosen], shrink=0.85)
        update = lambda frame: picture.set_array(values[frame])
    title = axes.set_title(naming.moment(f"{times[-1]:.3f}"))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # things are where they belong: frames need no layout
    figure.canvas.draw()

    try:
        with (
            shown(progress) as told,
            file_errors(f"{target} cannot be written", ELSEWHERE),
            writer.saving(figure, target, dpi),
        ):
            for frame, time in enumerate(times):  # FuncAnimation would draw each frame twice
                update(frame)
                title.set_text(naming.moment(f"{time:.3f}"))
                writer.grab_frame()
                told("drawing", (frame + 1) / len(times), {})
    finally:
        pyplot().close(figure)
    return target


def _writer(target: Path, fps: int) -> Any:
    library = extra("matplotlib.animation", "An animation", "plot")
    if target.suffix == ".gif":
        return library.PillowWriter(fps=fps)
    if target.suffix == ".mp4" and library.FFMpegWriter.isAvailable():
        return library.FFMpegWriter(fps=fps)
    known = target.suffix == ".mp4"
    reason = "ffmpeg is not installed" if known else "only .gif and .mp4 are known"
    raise UsageError(f"{target.name} cannot be made, because {reason}; choose a name in .gif.")


def _times(solution: Solution, t: float | Sequence[float] | None) -> list[float]:
    wanted = np.atleast_1d(np.asarray(solution.times[-1] if t is None else t, dtype=object))
    if not wanted.size:
        raise UsageError("There is no time to draw; give one, or a list with some.")
    return [as_time(time) for time in wanted]


def _components(values: Float[Array, "k n ..."]) -> Float[Array, "k n c"]:
    """A scalar field has one component."""
    return values.reshape(*values.shape[:2], -1)


def _draw(
    solution: Solution,
    quantity: Callable[[Array, list[float]], Array],
    t: float | Sequence[float] | None,
    component: int | str | None,
    ax: Any,
    less: str,
    colours: str,
) -> Any:
    """The quantity, a function of points and times, on every picture of the domain.

    It is called as the field is, followed by `less`.
    """
    naming = solution.problem.naming
    times, looks = _times(solution, t), pictures(solution.problem.domain)
    chosen = range(len(naming.symbols)) if component is None else [naming.index(component)]
    values = [_components(quantity(look.x, times))[:, :, chosen] for look in looks]
    count, names = len(chosen), [naming.labels[c] + less for c in chosen]
    if looks[0].triangles is None:
        ax = ax if ax is not None else pyplot().subplots(layout="constrained")[1]
        return _lines(ax, looks[0], times, values[0], names, naming)
    columns = len(times) * len(looks)
    if ax is not None and (count, columns) != (1, 1):
        raise UsageError(
            f"One Axes holds one map, but there are {count * columns}; leave ax out, or choose one "
            f"time and one component."
        )
    grid = np.array([[ax]], dtype=object) if ax is not None else _panels(looks, count, columns)
    for row in range(count):
        low, high = limits([part[:, :, row] for part in values], colours)
        for column in range(columns):
            place, look = divmod(column, len(looks))
            axes = grid[row, column]
            picture = fill(
                axes, looks[look], values[look][place, :, row], low, high, colours, naming.axis
            )
            start = f"{naming.symbols[chosen[row]]}{less}, " if count > 1 or less else ""
            title = start + naming.moment(f"{times[place]:.4g}")
            axes.set_title(", ".join(filter(None, [title, looks[look].title])), fontsize="medium")
        picture.axes.figure.colorbar(picture, ax=list(grid[row]), shrink=0.85, label=names[row])
    return grid[0, 0] if grid.size == 1 else grid.squeeze()


def _panels(looks: list[Picture], rows: int, columns: int) -> Array:
    extent = np.ptp(looks[0].shown, axis=0)
    height = float(np.clip(extent[1] / extent[0], 0.4, 2.0)) * 3.2
    size = (3.2 * columns + 1.1, rows * height + 0.5)
    return pyplot().subplots(rows, columns, squeeze=False, figsize=size, layout="constrained")[1]


def _lines(
    axes: Any, look: Picture, times: list[float], values: Array, names: list[str], naming: Naming
) -> Any:
    for index, (time, rows) in enumerate(zip(times, values, strict=True)):
        for number, name in enumerate(names):
            axes.plot(
                look.shown[:, 0],
                rows[:, number],
                label=(f"{name}, " if len(names) > 1 else "") + naming.moment(f"{time:.4g}"),
                color=LINES[index % len(LINES)],
                linestyle=("-", "--", ":", "-.")[number % 4],
            )
    look.label(axes, naming.axis)
    axes.set_ylabel(names[0] if len(names) == 1 else "")
    axes.spines[["top", "right"]].set_visible(False)
    if len(times) * len(names) > 1:
        axes.legend(frameon=False)
    else:
        axes.set_title(naming.moment(f"{times[0]:.4g}"), fontsize="medium")
    return axes


def fill(
    axes: Any,
    look: Picture,
    values: Array,
    low: float,
    high: float,
    colours: str,
    named: Callable[[str], str] = str,
) -> Any:
    """A filled map with the domain's own edge; `named` gives the labels of its axes."""
    look.label(axes, named)
    scale = {"cmap": colours, "vmin": low, "vmax": high}
    shown = (*look.shown.T, look.triangles, values)
    return axes.tripcolor(*shown, shading="gouraud", rasterized=True, **scale)


def limits(values: list[Array], colours: str) -> tuple[float, float]:
    """The ends of the colour scale, symmetric for differences."""
    low = min(float(np.nanmin(part)) for part in values)
    high = max(float(np.nanmax(part)) for part in values)
    if colours == SIGNED:
        high = max(abs(low), abs(high))
        low = -high
    return (low, high) if high > low else (low - 1.0, high + 1.0)
