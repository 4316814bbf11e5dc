"""A solution as an xarray Dataset, with names, units and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from tengbc.export.places import Places, Where, axis_names, places
from tengbc.optional import extra

if TYPE_CHECKING:
    from tengbc.solution import Solution

Array = np.ndarray
MOST_TIMES = 200


def to_xarray(
    solution: Solution, where: Where = None, times: Sequence[float] | Array | None = None
) -> Any:
    """u(time, x, y, …) on a grid, NaN outside the domain, or u(time, point) at points."""
    xarray = extra("xarray", "An xarray Dataset", "export")
    sites, moments = places(solution.problem.domain, where), chosen_times(solution, times)
    names = axis_names(sites.x.shape[1])
    values = sampled(solution, sites, moments)
    system = ("component",) if solution.problem.shape else ()
    dims = ("time", *(names if sites.axes else ("point",)), *system)
    length = {"units": "1"}
    coordinates: dict[str, Any] = {
        "time": ("time", moments, {"long_name": "time", "units": "1"}),
        **{
            name: (name, axis, {"long_name": name, **length})
            for name, axis in zip(names, sites.axes, strict=False)
        },
    }
    if not sites.axes:
        for name, column in zip(names, sites.x.T, strict=True):
            coordinates[name] = ("point", column, {"long_name": name, **length})
    if system:
        coordinates["component"] = np.arange(solution.problem.components)
    about = {"long_name": "solution", "units": "1"}
    return xarray.Dataset({"u": (dims, values, about)}, coordinates, attributes(solution))


def chosen_times(solution: Solution, times: Sequence[float] | Array | None) -> Float[Array, " k"]:
    """The times asked for; else those stored, or 101 of them if there are very many."""
    if times is not None:
        return np.atleast_1d(np.asarray(times, dtype=float))
    if len(solution.times) <= MOST_TIMES:
        return solution.times
    return np.linspace(solution.times[0], solution.times[-1], 101)


def sampled(solution: Solution, sites: Places, times: Float[Array, " k"]) -> Float[Array, "k ..."]:
    """The very numbers solution(x, t) gives; outside the domain NaN on a grid, else an error."""
    outside = "nan" if sites.axes else "raise"
    # One time after the other: a product of other sizes could round its last bits otherwise.
    values = np.stack([solution(sites.x, float(t), outside=outside) for t in times])
    return values.reshape(len(times), *sites.shape, *solution.problem.shape)


def attributes(solution: Solution) -> dict[str, Any]:
    """What a reader of the file should know: text and numbers only."""
    problem, known = solution.problem, solution.error_estimate[np.isfinite(solution.error_estimate)]
    facts = {k: v for k, v in solution.facts.items() if isinstance(v, str | int | float)}
    return {
        "title": problem.name or "solution",
        "source": "tengbc",
        "equation": f"∂ₜu = {problem.equation.formula}",
        **{f"condition_{name}": law.formula for name, law in problem.conditions.items()},
        "domain": repr(problem.domain),
        "outcome": str(solution.result),
        **({"relative_error_estimate": float(known.max())} if known.size else {}),
        **{f"run_{name}": value for name, value in facts.items()},
    }
