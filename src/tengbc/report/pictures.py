"""The solution and its error at a few times, small enough to send by mail."""

from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.report.numbers import encoded
from tengbc.report.raster import Raster, rasters, reference_raster
from tengbc.solution import Solution
from tengbc.storage.checksummed import plain

Array = np.ndarray
FRAMES = 41
"""Times of a picture that moves."""
NUMBERS = 600_000
"""About how many numbers are stored, of two bytes each."""
MOST_PER_AXIS = 91
FEW = 5
"""Reference values at fewer times are not shown as pictures."""


def picture_data(solution: Solution) -> dict[str, Any]:
    """Frames of u and, where the truth is known, of u − u*, on each view of the domain."""
    problem = solution.problem
    reference = _reference_times(solution)
    times = reference if reference is not None else frame_times(solution)
    with_truth = problem.exact_function is not None or reference is not None
    fields = (2 if with_truth else 1) * max(problem.components, 1)
    chosen = _views(solution, fields * len(times), reference is not None)
    shown, spreads = zip(*(_filled(solution, *view, times) for view in chosen), strict=True)
    boxes = solution.body.boxes if problem.domain.dim == 2 else None
    return {
        "times": plain(times, 9),
        "opening": opening(np.max(spreads, axis=0)),
        "boxes": None if boxes is None or len(boxes) == 1 else plain(boxes.ravel(), 6),
        "components": list(problem.naming.labels),
        "reference": reference is not None,
        "views": list(shown),
    }


def opening(spread: Float[Array, " k"]) -> int:
    """The frame to begin with: the first that is not flat, with half of the largest spread."""
    return int(np.argmax(spread >= 0.5 * np.max(spread)))


def frame_times(solution: Solution) -> Float[Array, " k"]:
    """Times at equal distances; of a network that moves as a whole, the stored ones nearest."""
    end = float(solution.times[-1])
    if end == 0 or len(solution.times) == 1:
        return solution.times[:1]
    wanted = np.linspace(0.0, end, FRAMES)
    if getattr(solution, "frozen", True):
        return wanted
    nearest = np.abs(solution.times[None, :] - wanted[:, None]).argmin(axis=1)
    return solution.times[np.unique(nearest)]


def _reference_times(solution: Solution) -> Float[Array, " k"] | None:
    """The stored times of a reference, if it can be shown."""
    problem = solution.problem
    if problem.exact_function is not None or problem.reference is None or problem.domain.dim > 2:
        return None
    known = problem.reference.times
    known = known[known <= solution.times[-1] * (1 + 1e-12)]
    return known if len(known) >= FEW and reference_raster(problem, 4) is not None else None


def _views(solution: Solution, frames: int, reference: bool) -> list[tuple[Raster, Any]]:
    """Views with, for each, a function of time that gives the truth on it, or None."""
    problem = solution.problem
    pairs = 3 if problem.domain.dim == 3 else 1
    per_axis = int(np.clip(np.sqrt(NUMBERS / (frames * pairs)), 25, MOST_PER_AXIS))
    if reference:
        found = reference_raster(problem, per_axis)
        assert found is not None
        return [found]
    known = problem.exact_function is not None
    return [
        (view, (lambda t, x=view.points: problem.exact(x, t)) if known else None)
        for view in rasters(problem.domain, per_axis)
    ]


def _filled(
    solution: Solution, view: Raster, truth: Any, times: Float[Array, " k"]
) -> tuple[dict[str, Any], Float[Array, " k"]]:
    """A view with its frames; and how far values are apart in each, the largest being 1."""
    fields = {"solution": solution.at_times(view.points, times, outside="nan")}
    if truth is not None:
        exact = np.stack([np.asarray(truth(float(t))) for t in times])
        fields["error"] = fields["solution"] - exact.reshape(fields["solution"].shape)
    columns = {name: u.reshape(*u.shape[:2], -1).transpose(2, 0, 1) for name, u in fields.items()}
    axes = [solution.problem.naming.axis(name) for name in view.layout["axes"]]
    shown = {name: [encoded(u) for u in each] for name, each in columns.items()}
    spread = np.nanmax(columns["solution"], axis=2) - np.nanmin(columns["solution"], axis=2)
    largest = spread.max(axis=1, keepdims=True)
    relative = (spread / np.where(largest > 0, largest, 1.0)).max(axis=0)
    return view.layout | {"axes": axes} | shown, relative
