"""The solution: a network for every stored time, callable anywhere in the domain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from tengbc.coefficient import CoefficientLike
from tengbc.errors import OutsideError, UsageError
from tengbc.fields import gradient as gradient_of
from tengbc.history import Record
from tengbc.networks import AbstractBody, DeformedWaves, Parameters
from tengbc.outcome import Result
from tengbc.pointwise import as_points, as_time
from tengbc.problem import Problem

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
    parameters: Parameters
    times: Float[Array, " k"]
    thetas: Float[Array, "k p"]
    result: Result
    history: Sequence[Record] = ()
    error_estimate: Float[Array, " k"] = field(default_factory=lambda: np.zeros(0))
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)

    def __post_init__(self):
        network = self.parameters.network
        values = jax.vmap(lambda theta, x: network(theta)(x), in_axes=(None, 0))
        slopes = jax.vmap(lambda theta, x: gradient_of(network(theta))(x), in_axes=(None, 0))
        object.__setattr__(self, "_values", jax.jit(values))
        object.__setattr__(self, "_slopes", jax.jit(slopes))

    def __repr__(self) -> str:
        known = self.error_estimate[np.isfinite(self.error_estimate)]
        error = f", error near {known.max():.1e}" if known.size else ""
        name = f" of {self.problem.name}" if self.problem.name else ""
        return f"<Solution{name}, 0 ≤ t ≤ {self.times[-1]:g}: {self.result}{error}>"

    def __call__(
        self, x: Float[Array, "n d"], t: float, *, outside: str = "raise"
    ) -> Float[Array, "..."]:
        """u at points x, one (d,) or many (n, d), at time t.

        Points outside the domain are an error, or NaN with `outside="nan"`: nothing is
        extrapolated. Between stored times the values are interpolated by a polynomial through the
        nearest ones.
        """
        points = as_points(x, self.problem.domain.dim)
        result = self.at_times(np.atleast_2d(points), [t], outside=outside)[0]
        return result if points.ndim == 2 else result[0]

    def at_times(
        self, x: Float[Array, "n d"], times: Sequence[float] | Array, *, outside: str = "raise"
    ) -> Float[Array, "k n ..."]:
        """u at points x (n, d) and several times: what is common to them is computed once."""
        points = np.atleast_2d(as_points(x, self.problem.domain.dim))
        inside = self._inside(points, outside)
        checked = [self._checked_time(t) for t in np.atleast_1d(np.asarray(times, dtype=object))]
        result = np.full((len(checked), len(points), *self.problem.shape), np.nan)
        if not checked:
            return result
        if self.frozen and not self.deformed:
            result[:, inside] = self._with_frozen_body(points[inside], checked)
        else:
            for row, t in zip(result, checked, strict=True):
                row[inside] = self._interpolated(points[inside], t)
        return result

    def gradient(
        self, x: Float[Array, "n d"], t: float, *, outside: str = "raise"
    ) -> Float[Array, "..."]:
        """∇u at points x, one (d,) or many (n, d): shape (…, d), for a system (…, m, d)."""
        from tengbc.solver.derived import gradient

        return gradient(self, x, t, outside)

    def integral(self, t: float | Sequence[float] | Array) -> Float[Array, "..."] | float:
        """∫_Ω u dx at one time, or at each of several; for a system one number per component."""
        from tengbc.solver.derived import integral

        return integral(self, t)

    def flux(
        self, segment: str | None, t: float, *, diffusivity: CoefficientLike | None = None
    ) -> Float[Array, "..."] | float:
        """∮_Γ κ ∂ₙu ds, n pointing outwards: what enters through Γ, so that d/dt ∫u = ∮ κ∂ₙu.

        Γ is a boundary segment, or with None the whole boundary. κ is the equation's own
        diffusivity; give another, or 1 for ∮ ∂ₙu, as a number or a function of x or (x, t).
        """
        from tengbc.solver.derived import flux

        return flux(self, segment, t, diffusivity)

    def plot(self, t: float | Sequence[float] | None = None, **choices: Any) -> Any:
        """Draw u at time t, or at several times side by side; Matplotlib's Axes come back.

        `component` chooses one of a system; `ax` draws a single picture into Axes of one's own.
        """
        from tengbc.figures import plot

        return plot(self, t, **choices)

    def plot_error(self, t: float | Sequence[float] | None = None, **choices: Any) -> Any:
        """Draw u minus the exact solution, as `plot` draws u."""
        from tengbc.figures import plot_error

        return plot_error(self, t, **choices)

    def animate(self, path: str | os.PathLike[str], **choices: Any) -> Any:
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
        from tengbc.solver.solution_file import save

        return save(self, path)

    @cached_property
    def deformed(self) -> bool:
        """Whether the features are waves in coordinates that move with the solution."""
        return isinstance(self.parameters.network(self.thetas[0]).body, DeformedWaves)

    @cached_property
    def frozen(self) -> bool:
        """Whether all stored networks share one body, so that only their heads differ."""
        bodies = self.thetas[:, : self.parameters.head.start]
        return bool((bodies == bodies[:1]).all())

    def _with_frozen_body(self, x: Float[Array, "n d"], times: Sequence[float]) -> Array:
        """Features once, then one product: u is linear in the head, so heads are interpolated."""
        heads = self.thetas[:, self.parameters.head]
        chosen = np.stack([weights @ heads[nodes] for nodes, weights in map(self._nodes, times)])
        with jax.enable_x64(True):
            network = self.parameters.network(self.thetas[0])
            features = np.asarray(_features(network.body, x))
        components, width = network.head.weight.shape
        weight = chosen[:, : components * width].reshape(len(times), components, width)
        values = np.einsum("nw,kcw->knc", features, weight, optimize=True)
        values += chosen[:, None, components * width :]
        return values.reshape(len(times), len(x), *self.problem.shape)

    def _states(self, t: float) -> list[tuple[float, Array]]:
        """Weights and parameters whose fields add up to u at time t."""
        nodes, weights = self._nodes(self._checked_time(t))
        if self.deformed:  # smooth in time where coordinates follow the front, which u(x) is not
            return [(1.0, weights @ self.thetas[nodes])]
        if not self.frozen:
            return list(zip(weights.tolist(), self.thetas[nodes], strict=True))
        theta = self.thetas[0].copy()
        theta[self.parameters.head] = weights @ self.thetas[nodes][:, self.parameters.head]
        return [(1.0, theta)]

    def _nodes(self, t: float) -> tuple[Array, Float[Array, " k"]]:
        """Indices of the stored times to interpolate at t, and their weights."""
        nearest = int(np.argmin(np.abs(self.times - t)))
        if abs(self.times[nearest] - t) <= 1e-12 * self.times[-1]:
            return np.array([nearest]), np.ones(1)
        first = np.searchsorted(self.times, t) - NEIGHBOURS // 2
        first = int(np.clip(first, 0, max(len(self.times) - NEIGHBOURS, 0)))
        nodes = np.arange(first, min(first + NEIGHBOURS, len(self.times)))
        return nodes, lagrange_weights(self.times[nodes], t)

    def _checked_time(self, t: float) -> float:
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

    def _interpolated(self, x: Float[Array, "n d"], t: float, what: str = "_values") -> Array:
        """u, or with "_slopes" ∇u: both are linear in u, so they are interpolated like it."""
        if self.deformed:
            [(_, theta)] = self._states(t)
            with jax.enable_x64(True):
                network = self.parameters.network(theta)
            assert isinstance(network.body, DeformedWaves)
            weight = np.asarray(network.head.weight)
            values = network.body.combine(weight, x, slopes=what == "_slopes")
            return values.reshape(len(x), *self.problem.shape, *values.shape[2:])
        # Only few sizes are compiled: points are padded to a power of two, at least 256.
        size = max(256, 1 << max(len(x) - 1, 0).bit_length())
        padded = np.concatenate([x, np.repeat(x[-1:], size - len(x), axis=0)]) if len(x) else x
        compute, states = getattr(self, what), self._states(t)
        with jax.enable_x64(True):
            values = np.stack([np.asarray(compute(theta, padded)) for _, theta in states])
        return np.tensordot([weight for weight, _ in states], values[:, : len(x)], axes=1)


@eqx.filter_jit
def _features(body: AbstractBody, x: Array):
    return jax.vmap(body)(x)


def lagrange_weights(nodes: Float[Array, " k"], t: float) -> Float[Array, " k"]:
    """Weights ℓᵢ(t) of the polynomial through values at the nodes."""
    scaled = (nodes - t) / (nodes[-1] - nodes[0])
    weights = np.ones(len(nodes))
    for i in range(len(nodes)):
        others = np.delete(scaled, i)
        weights[i] = np.prod(-others / (scaled[i] - others))
    return weights
