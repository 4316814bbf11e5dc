"""A solution in motion, as a GIF or as a film."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tengbc.errors import OutputError, UsageError
from tengbc.figures.plot import VALUES, _components, fill, limits
from tengbc.figures.views import views
from tengbc.geometry import checks
from tengbc.optional import extra, pyplot

if TYPE_CHECKING:
    from tengbc.solution import Solution


def animate(
    solution: Solution,
    path: str | os.PathLike[str],
    *,
    frames: int = 60,
    fps: int = 20,
    component: int = 0,
    dpi: int = 100,
) -> Any:
    """Write u from 0 to the end as .gif, or as .mp4 where ffmpeg exists; the animation comes back.

    The scale stays the same in all frames, which are equally far apart in time.
    """
    target = Path(path)
    frames, fps, dpi = (
        checks.whole(value, name, least, 100_000)
        for value, name, least in ((frames, "frames", 1), (fps, "fps", 1), (dpi, "dpi", 10))
    )
    writer = _writer(target, fps)
    times = np.linspace(0.0, solution.times[-1], max(2, frames))
    look = views(solution.problem.domain)[0]
    values = _components(solution, solution.at_times(look.x, times), component)[:, :, 0]
    low, high = limits([values], VALUES)
    figure, axes = pyplot().subplots(layout="constrained", dpi=dpi)
    if look.triangles is None:
        (line,) = axes.plot(look.shown[:, 0], values[0], color="#0072B2")
        margin = 0.05 * (high - low)
        axes.set_ylim(low - margin, high + margin)
        axes.set_ylabel("u")
        look.label(axes)
        update = lambda frame: line.set_ydata(values[frame])
    else:
        picture = fill(axes, look, values[0], low, high, VALUES)
        figure.colorbar(picture, ax=axes, label="u", shrink=0.85)
        update = lambda frame: picture.set_array(values[frame])
    title = axes.set_title("")

    def draw(frame: int) -> None:
        update(frame)
        title.set_text(f"t = {times[frame]:.3f}")

    library = extra("matplotlib.animation", "An animation", "plot")
    film = library.FuncAnimation(figure, draw, frames=len(times), interval=1000 / fps)
    try:
        film.save(target, writer=writer)
    except OSError as error:
        raise OutputError(
            f"{target} cannot be written ({error.strerror or error}); choose another place."
        ) from None
    finally:
        pyplot().close(figure)
    return film


def _writer(target: Path, fps: int) -> Any:
    library = extra("matplotlib.animation", "An animation", "plot")
    if target.suffix == ".gif":
        return library.PillowWriter(fps=fps)
    if target.suffix == ".mp4" and library.FFMpegWriter.isAvailable():
        return library.FFMpegWriter(fps=fps)
    reason = (
        "ffmpeg is not installed" if target.suffix == ".mp4" else "only .gif and .mp4 are known"
    )
    raise UsageError(f"{target.name} cannot be made, because {reason}; choose a name in .gif.")
