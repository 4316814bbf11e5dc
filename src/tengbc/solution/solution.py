"""The solution: a network for every stored time, callable anywhere in the domain."""

import copy
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from pickle import dumps
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.coefficient import CoefficientLike
from tengbc.errors import OutsideError, UsageError
from tengbc.history import Record
from tengbc.interpolation import neighbours, within_step
from tengbc.networks import AbstractBody, Network, Parameters
from tengbc.outcome import Result
from tengbc.pointwise import as_points, as_time, as_times
from tengbc.problem import Problem
from tengbc.solution.component import Component
from tengbc.types import Time

Array = np.ndarray
NEIGHBOURS = 12
"""Stored times that an evaluation between them interpolates."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """u(x, t) for x in the domain and 0 ≤ t ≤ `times[-1]`, with what is known about its error.

    `result` says how the run ended; `error_estimate` is one relative error per stored time (NaN
    where none was made); `history` has a record per step; `seconds` tells where the time went.
    """

    problem: Problem
    parameters: Parameters[Network]
    times: Float[Array, " k"]
    thetas: Float[Array, "k p"]
    result: Result
    history: Sequence[Record] = ()
    error_estimate: Float[Array, " _"] = field(default_factory=lambda: np.zeros(0))
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    stages: int = 0
    """Stored times per step, its stages among them, whose polynomial is u within the step; 0: only
    ends of steps are stored, and the nearest ones are interpolated."""

    def __repr__(self) -> str:
        known = self.error_estimate[np.isfinite(self.error_estimate)]
        error = f", error near {known.max():.1e}" if known.size else ""
        name = f" of {self.problem.name}" if self.problem.name else ""
        return f"<Solution{name}, 0 ≤ t ≤ {self.times[-1]:g}: {self.result}{error}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Whole where its functions can be pickled; else as `save` would write it, without them."""
        parts = tuple(getattr(self, part.name) for part in fields(self))
        try:
            dumps(self.problem)
        except Exception:  # pickle has no one error for what it cannot do
            from tengbc.solution.file import from_bytes, to_bytes

            return from_bytes, (to_bytes(self),)
        return Solution, parts

    def __deepcopy__(self, memo: dict[int, Any]) -> "Solution":
        return Solution(*(copy.deepcopy(getattr(self, part.name), memo) for part in fields(self)))

    def __copy__(self) -> "Solution":
        return replace(self)

    def __getitem__(self, which: str | int) -> Component:
        """One component, by its name or its number."""
        return Component(self, self.problem.naming.index(which))

    def __call__(
        self, x: ArrayLike, t: Time | None = None, *, outside: str = "raise"
    ) -> Float[Array, "..."] | np.floating:
        """u at points x, one (d,) or many (n, d), on an interval also (n,), at time t or the end.

        Points outside the domain are an error, or NaN with `outside="nan"`: nothing is
        extrapolated. Between stored times the values are interpolated by a polynomial through the
        nearest ones.
        """
        points = as_points(x, self.problem.domain.dim)
        time = self.times[-1] if t is None else t
        result = self.at_times(np.atleast_2d(points), [time], outside=outside)[0]
        return result if points.ndim == 2 else result[0]

    def at_times(
        self, x: ArrayLike, times: Time | Sequence[Time] | Array, *, outside: str = "raise"
    ) -> Float[Array, "k n ..."]:
        """u at points x (n, d) and several times: what is common to them is computed once."""
        points = np.atleast_2d(as_points(x, self.problem.domain.dim))
        inside = self._inside(points, outside)
        checked = [self._checked_time(t) for t in as_times(times)]
        result = np.full((len(checked), len(points), *self.problem.shape), np.nan)
        if checked:
            result[:, inside] = self.at_checked(points[inside], checked)
        return result

    def at_checked(
        self, x: Float[Array, "n d"], times: Sequence[float], slopes: bool = False
    ) -> Float[Array, "k n ..."]:
        """u, or with `slopes` ∇u, at points and times that were checked before."""
        if self.frozen and self.body.interpolated == "values":
            return self._with_frozen_body(x, times, slopes)
        return np.stack([self.interpolated(x, t, slopes) for t in times])

    def gradient(self, x: ArrayLike, t: Time, *, outside: str = "raise") -> Float[Array, "..."]:
        """∇u at points x, one (d,) or many (n, d): shape (…, d), for a system (…, m, d)."""
        from tengbc.solution.derived import gradient

        return gradient(self, x, t, outside)

    def integral(self, t: Time | Sequence[float] | Array) -> Float[Array, "..."] | float:
        """∫_Ω u dx at one time, or at each of several; for a system one number per component."""
        from tengbc.solution.derived import integral

        return integral(self, t)

    def flux(
        self,
        segment: str | None,
        t: Time | Sequence[float] | Array,
        *,
        diffusivity: CoefficientLike | None = None,
        kind: str = "diffusive",
    ) -> Float[Array, "..."] | float:
        """∮_Γ κ ∂ₙu ds, n pointing outwards: what enters through Γ, so that d/dt ∫u = ∮ κ∂ₙu.

        Γ is a boundary segment, or with None the whole boundary; t one time or several. κ is the
        equation's own diffusivity; give another, or 1 for ∮ ∂ₙu, as a number or a function of x or
        (x, t). `kind="advective"` is −∮ v·n u ds, what a flow carries in; "total" is both.
        """
        from tengbc.solution.derived import flux

        return flux(self, segment, t, diffusivity, kind)

    def balance(self, times: Time | Sequence[float] | Array | None = None) -> Any:
        """What is stored since t = 0, came in by segment, was made inside, and is left over.

        A table as text, a picture by `.plot()`, and how well it closes as `.closes`.
        """
        from tengbc.solution.balance import balance

        return balance(self, times)

    def plot(self, t: float | Sequence[float] | None = None, **choices: Any) -> Any:
        """Draw u at time t, or at several times side by side; Matplotlib's Axes come back.

        `component` chooses one of a system, by name or number; `ax` draws a single picture into
        Axes of one's own.
        """
        from tengbc.figures import plot

        return plot(self, t, **choices)

    def plot_error(self, t: float | Sequence[float] | None = None, **choices: Any) -> Any:
        """Draw u minus the exact solution, as `plot` draws u."""
        from tengbc.figures import plot_error

        return plot_error(self, t, **choices)

    def animate(self, path: str | os.PathLike[str], **choices: Any) -> Path:
        """Write a .gif, or with ffmpeg an .mp4, of u from 0 to the end; options `frames`, `fps`."""
        from tengbc.figures import animate

        return animate(self, path, **choices)

    def to_xarray(self, where: Any = None, times: Sequence[float] | Array | None = None) -> Any:
        """u as an xarray Dataset: on a grid, NaN outside the domain, or at points.

        `where` is a number of points per axis, one array per axis, or an array (n, d) of points;
        `times` are the stored ones unless given.
        """
        from tengbc.export.dataset import to_xarray

        return to_xarray(self, where, times)

    def export(self, path: str | os.PathLike[str], form: str, **choices: Any) -> Path:
        """Write u as "netcdf", "zarr", "vtk", "csv" or "npz"; `where`, `times` as for xarray."""
        from tengbc.export.files import export

        return export(self, form, path, **choices)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the solution to one safetensors file, from which `tengbc.load` gives it back."""
        from tengbc.solution.file import save

        return save(self, path)

    @cached_property
    def body(self) -> AbstractBody:
        """The features that the solution begins with."""
        return self.parameters.network(self.thetas[0]).body

    @cached_property
    def frozen(self) -> bool:
        """Whether all stored networks share one body, so that only their heads differ."""
        bodies = self.thetas[:, : self.parameters.head.start]
        return bool((bodies == bodies[:1]).all())

    def _with_frozen_body(
        self, x: Float[Array, "n d"], times: Sequence[float], slopes: bool
    ) -> Array:
        """One product for all times: u is linear in the head, so heads are interpolated."""
        heads = self.thetas[:, self.parameters.head]
        chosen = np.stack([weights @ heads[nodes] for nodes, weights in map(self._nodes, times)])
        components = self.problem.components or 1
        weight = chosen[:, :-components].reshape(len(times) * components, -1)
        values = self.body.combine(weight, x, slopes)
        axes = values.shape[2:]  # of ∇u
        values = np.swapaxes(values.reshape(len(x), len(times), components, *axes), 0, 1)
        if not slopes:
            values = values + chosen[:, None, -components:]
        return values.reshape(len(times), len(x), *self.problem.shape, *axes)

    def _networks(self, t: Time) -> list[tuple[float, Network]]:
        """Weights and networks whose fields add up to u at time t."""
        nodes, weights = self._nodes(self._checked_time(t))
        if self.frozen or self.body.interpolated == "parameters":
            return [(1.0, self.parameters.network(weights @ self.thetas[nodes]))]
        networks = map(self.parameters.network, self.thetas[nodes])
        return list(zip(weights.tolist(), networks, strict=True))

    def _nodes(self, t: float) -> tuple[Array, Float[Array, " k"]]:
        """Indices of the stored times to interpolate at t, and their weights."""
        if self.stages:
            return within_step(self.times, t, self.stages)
        return neighbours(self.times, t, NEIGHBOURS)

    def _checked_time(self, t: Time) -> float:
        t, end = as_time(t), self.times[-1]
        if not -1e-12 * end <= t <= end * (1 + 1e-12):
            raise OutsideError(
                f"The solution is known for 0 ≤ t ≤ {end:g}, but t = {t:g} was asked for; "
                f"solve to a later t_end."
            )
        return min(max(t, 0.0), end)

    def _inside(self, x: Float[Array, "n d"], outside: str) -> Array:
        if outside not in ("raise", "nan"):
            raise UsageError(f"outside is {outside!r}, but it is either 'raise' or 'nan'.")
        inside = self.problem.domain.contains(x)
        if outside == "raise" and not inside.all():
            first = x[np.flatnonzero(~inside)[0]]
            where = ", ".join(f"{coordinate:.6g}" for coordinate in first)
            raise OutsideError(
                f"{np.count_nonzero(~inside)} of {len(x)} points lie outside the domain, the first "
                f"at ({where}); leave them out, or pass outside='nan'."
            )
        return inside

    def interpolated(self, x: Float[Array, "n d"], t: Time, slopes: bool = False) -> Array:
        """u, or with `slopes` ∇u, at points that were checked before."""
        networks = self._networks(t)
        values = np.stack([network.evaluate(x, slopes) for _, network in networks])
        return np.tensordot([weight for weight, _ in networks], values, axes=1)
