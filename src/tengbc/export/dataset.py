"""A solution at points or on a grid, and as an xarray Dataset with names, units and facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from tengbc.errors import UsageError
from tengbc.geometry import Domain, grids
from tengbc.geometry.grids import axis_names
from tengbc.optional import extra
from tengbc.pointwise import as_points

if TYPE_CHECKING:
    from tengbc.solution import Solution

Array = np.ndarray
MOST_TIMES = 200
PER_AXIS = {1: 1001, 2: 101, 3: 41}
Where: TypeAlias = int | Sequence | np.ndarray | None
"""Points per axis of a grid; one array per axis of a grid; an array (n, d) of points."""


@dataclass(frozen=True, eq=False)
class SamplePoints:
    """The points `x`, and the axes of the grid they form, if they form one."""

    x: Float[Array, "n d"]
    axes: tuple[Float[Array, " _"], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """How values at the points are laid out."""
        return tuple(len(axis) for axis in self.axes) or (len(self.x),)


def to_xarray(
    solution: Solution, where: Where = None, times: Sequence[float] | Array | None = None
) -> Any:
    """u(time, x, y, …) on a grid, NaN outside the domain, or u(time, point) at points."""
    xarray = extra("xarray", "An xarray Dataset", "export")
    points, moments = sample_points(solution.problem.domain, where), chosen_times(solution, times)
    names = axis_names(points.x.shape[1])
    values = sampled(solution, points, moments)
    naming = solution.problem.naming
    system = ("component",) if solution.problem.shape and not naming.names else ()
    dims = ("time", *(names if points.axes else ("point",)), *system)
    coordinates: dict[str, Any] = {"time": ("time", moments, _about("time", naming.units.get("t")))}
    for name, column in zip(names, points.axes or points.x.T, strict=True):
        coordinates[name] = (
            name if points.axes else "point",
            column,
            _about(name, naming.units.get("x")),
        )
    if system:
        coordinates["component"] = np.arange(solution.problem.components)
    fields: dict[str, Any] = {
        name: (dims, part, _about(name if naming.names else "solution", naming.unit(k)))
        for k, (name, part) in enumerate(named(solution, values).items())
    }
    regions = solution.problem.domain.region_names
    if regions:
        where = region_numbers(solution.problem.domain, points.x).reshape(points.shape)
        about = {"long_name": "region", "flag_meanings": " ".join(regions)}
        fields["region"] = (dims[1 : len(dims) - len(system)], where, about)
    return xarray.Dataset(fields, coordinates, attributes(solution))


def named(solution: Solution, values: Float[Array, "*k"]) -> dict[str, Float[Array, "*n"]]:
    """Values by the names of the components, if they were given; else all of them as u."""
    names = solution.problem.naming.names
    if not names:
        return {"u": values}
    if not solution.problem.shape:
        return {names[0]: values}
    return {name: values[..., k] for k, name in enumerate(names)}


def region_numbers(domain: Domain, x: Float[Array, "n d"]) -> Int[Array, " n"]:
    """The number of the region that each point lies in; −1 outside the domain."""
    found = domain.region_of(x)  # pyright: ignore[reportAttributeAccessIssue]
    return np.where(domain.contains(x), found, -1)


def _about(name: str, unit: str | None) -> dict[str, str]:
    return {"long_name": name, "units": unit or "1"}


def chosen_times(solution: Solution, times: Sequence[float] | Array | None) -> Float[Array, " k"]:
    """The times asked for; else those stored, or 101 of them if there are very many."""
    if times is not None:
        return np.atleast_1d(np.asarray(times, dtype=float))
    if len(solution.times) <= MOST_TIMES:
        return solution.times
    return np.linspace(solution.times[0], solution.times[-1], 101)


def sampled(
    solution: Solution, points: SamplePoints, times: Float[Array, " k"]
) -> Float[Array, "k ..."]:
    """The very numbers solution(x, t) gives; outside the domain NaN on a grid, else an error."""
    outside = "nan" if points.axes else "raise"
    # One time after the other: a product of other sizes could round its last bits otherwise.
    values = np.stack([solution(points.x, float(t), outside=outside) for t in times])
    return values.reshape(len(times), *points.shape, *solution.problem.shape)


def attributes(solution: Solution) -> dict[str, Any]:
    """What a reader of the file should know: text and numbers only."""
    problem, known = solution.problem, solution.error_estimate[np.isfinite(solution.error_estimate)]
    facts = {k: v for k, v in solution.facts.items() if isinstance(v, str | int | float)}
    return {
        "title": problem.name or "solution",
        "source": "tengbc",
        "equation": f"∂ₜu = {problem.equation.formula}",
        **{
            f"condition_{name}": condition.formula for name, condition in problem.conditions.items()
        },
        "domain": repr(problem.domain),
        "outcome": str(solution.result),
        **({"relative_error_estimate": float(known.max())} if known.size else {}),
        **{f"run_{name}": value for name, value in facts.items()},
    }


def sample_points(domain: Domain, where: Where = None) -> SamplePoints:
    """The grid or the points that a user asked for; by default a grid over the bounding box."""
    if where is None:
        where = PER_AXIS.get(domain.dim, 11)
    if isinstance(where, int | np.integer):
        if isinstance(where, bool) or where < 2:
            raise UsageError(f"A grid needs two or more points per axis, not {where}.")
        return _grid([np.linspace(a, b, int(where)) for a, b in zip(*domain.bounds, strict=True)])
    if isinstance(where, np.ndarray) and where.ndim == 2:
        return SamplePoints(as_points(where, domain.dim))
    try:
        axes = [np.asarray(axis, dtype=float) for axis in where]
    except (TypeError, ValueError):
        axes = []
    if len(axes) == domain.dim and all(map(_is_axis, axes)):
        return _grid(axes)
    raise UsageError(
        f"Where to evaluate must be a number of points per axis, {domain.dim} arrays with the "
        f"increasing values on each axis, or an array of points of shape (n, {domain.dim})."
    )


def _is_axis(values: Array) -> bool:
    """Whether values stand in order: a list of pairs is meant as points, and seldom passes."""
    return values.ndim == 1 and len(values) > 0 and bool((np.diff(values) > 0).all())


def _grid(axes: list[Array]) -> SamplePoints:
    return SamplePoints(grids.tensor(axes), tuple(axes))
