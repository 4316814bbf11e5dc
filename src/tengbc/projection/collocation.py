"""A problem on points: everything that schemes and projections ask about u_θ there.

Interior and boundary rows are of one kind. An interior row asks u = target, a boundary row asks
g(u) = a·u + b·∂ₙu − v = 0; with (a, b, v) = (1, 0, target) they coincide. Each is scaled by the
square root of its point's weight, so the 2-norm over all rows *is* the L² norm over the closed
domain, and there are no other weights.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq import ConjugateGradients, Spectrum, spectrum
from tengbc.networks import Network, Parameters
from tengbc.pointwise import check_finite
from tengbc.problem import Problem

Array = np.ndarray
CHUNK = 4096
"""Points handled at once where intermediate results are many times larger than the outcome."""
BLOCK = 32
"""Columns made at once from their activations and signals."""
FACTORISATIONS = {"svd": spectrum, "gram": ConjugateGradients}
"""Singular values that are cut off, or the Gram matrix and damping, several times faster."""
SHORTEST = 1e-3
"""Columns shorter than this part of the longest are not lengthened to one."""


class Collocation:
    """The rows of a problem on given points, for networks of one architecture."""

    def __init__(
        self,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
    ):
        self.problem, self.interior, self.boundary = problem, interior, tuple(boundary)
        self.parameters = Parameters(network)
        self.network = network
        self.components = problem.components or 1
        self.interior_rows = len(interior) * self.components
        self.wanted: tuple[Float[Array, "_ _"] | float, ...] = (0.0,) * len(self.boundary)
        self._compile()
        # Boundary rows may have any number of components; one evaluation tells.
        counts = [g.size for g in self.boundary_residual(self.parameters.start, 0.0, check=False)]
        self.boundary_rows = sum(counts)
        self._boundary_weights = [
            np.repeat(points.w, count // len(points))
            for points, count in zip(self.boundary, counts, strict=True)
        ]
        self.move(interior)

    def move(self, interior: Points) -> None:
        """Take as many other interior points."""
        self.interior = interior
        inside = np.repeat(interior.w, self.components)
        self.scale = np.sqrt(np.concatenate([inside, *self._boundary_weights]))

    @property
    def rows(self) -> int:
        """Interior and boundary rows together."""
        return self.interior_rows + self.boundary_rows

    def with_boundary_data(self, wanted: Sequence[Float[Array, "_ _"] | float]) -> Collocation:
        """The same rows, asking for g(u) = wanted on each segment where g(u) = 0 was asked."""
        other = copy.copy(self)
        other.wanted = tuple(wanted)
        return other

    # What a field is and does on the points.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        """u_θ at the interior points."""
        return self._on_points(self._values, theta, self.interior.x)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        """L(u_θ) at the interior points: the equation's right-hand side at time t."""
        rates = self._on_points(self._rates, theta, self.interior.x, t)
        check_finite("The equation's right-hand side", rates, self.interior.x, t)
        return rates

    def boundary_residual(
        self, theta: Float[Array, " p"], t: float, check: bool = True
    ) -> list[Float[Array, "_ _"]]:
        """g(u_θ) on each boundary segment at time t, in the order of `boundary`."""
        with jax.enable_x64(True):
            found = [
                np.asarray(function(theta, points.x, points.normal, float(t)))
                for function, points in zip(self._conditions, self.boundary, strict=True)
            ]
        for points, g in zip(self.boundary, found, strict=True):
            if check:
                check_finite(f"The condition on {points.segment}", g, points.x, t)
        return found

    def sampled(self, function: Callable[[Points], Float[Array, "n m"]]) -> Float[Array, "n m"]:
        """A function at the interior points."""
        return function(self.interior)

    def inside_size(self, values: Float[Array, "n m"]) -> float:
        """The root mean square of values at the interior points."""
        return root_mean_square(values)

    def boundary_sizes(self, theta: Float[Array, " p"], t: float) -> list[float]:
        """The root mean square of what is left of each condition."""
        return [root_mean_square(g) for g in self.boundary_residual(theta, t)]

    def norm(self, values: Float[Array, "n m"]) -> float:
        """The L² norm over the domain of values at the interior points."""
        return float(np.linalg.norm(self.scale[: self.interior_rows] * values.ravel()))

    # The least-squares problem min ‖r − Jδ‖.

    def residual(
        self, theta: Float[Array, " p"], target: Float[Array, "n m"], t: float
    ) -> Float[Array, " r"]:
        """r = (target − u, wanted − g), scaled: what a change of θ has to make up for."""
        inside = (target - self.values(theta)).ravel()
        found = self.boundary_residual(theta, t)
        outside = [(w - g).ravel() for w, g in zip(self.wanted, found, strict=True)]
        return self.scale * np.concatenate([inside, *outside])

    def size(self, residual: Float[Array, " r"]) -> float:
        """The norm of a residual."""
        return float(np.linalg.norm(residual))

    def linearised(
        self,
        theta: Float[Array, " p"],
        t: float,
        active: Int[Array, " k"],
        residual: Float[Array, " r"],
        method: str,
    ) -> tuple[Float[Array, " k"], Spectrum | ConjugateGradients]:
        """The lengths of the active columns, and the problem with columns of length one."""
        columns = self.columns(theta, t, active)
        lengths = unit_lengths(np.linalg.norm(columns, axis=1))
        columns /= lengths[:, None]
        return lengths, FACTORISATIONS[method](columns, residual)

    def columns(
        self, theta: Float[Array, " p"], t: float, active: Int[Array, " k"]
    ) -> Float[Array, "k r"]:
        """The active columns of J = ∂(u, g)/∂θ, scaled, one per row of the result.

        Interior entries are products of a signal and an activation, and only those asked for are
        formed; the few boundary rows go through reverse mode, whatever the condition is.
        """
        result = np.empty((len(active), self.rows))
        signal_of, activation_of = (index[active] for index in self._layout)
        m = self.components
        for start in range(0, len(self.interior), CHUNK):
            chunk = self.interior.x[start : start + CHUNK]
            with jax.enable_x64(True):
                activations, signals = map(np.asarray, self._traces(theta, chunk))
            activations = activations * self.scale[start * m : (start + len(chunk)) * m : m]
            for component in range(m):
                rows = slice(start * m + component, (start + len(chunk)) * m, m)
                for part in range(0, len(active), BLOCK):  # what is gathered stays in the cache
                    some = slice(part, part + BLOCK)
                    left, right = activation_of[some], signals[component][signal_of[some]]
                    np.multiply(activations[left], right, out=result[some, rows])
        place = self.interior_rows
        for function, points in zip(self._condition_columns, self.boundary, strict=True):
            with jax.enable_x64(True):
                block = np.asarray(function(theta, points.x, points.normal, float(t), active))
            slope = f"The derivative of the condition on {points.segment}"
            check_finite(slope, np.moveaxis(block, 0, -1), points.x, t)
            block = block.reshape(len(active), -1)
            rows = slice(place, place + block.shape[1])
            result[:, rows] = block * self.scale[rows]
            place = rows.stop
        return result

    @cached_property
    def _layout(self) -> tuple[Int[Array, " p"], Int[Array, " p"]]:
        """Of each parameter the indices of its signal and its activation."""
        return self.network.layout()

    # Compiled once; θ, points and time are arguments, so nothing is compiled again later.

    def _compile(self) -> None:
        equation, network = self.problem.equation, self.parameters.network
        components = self.components

        def value(theta, x):
            return jnp.reshape(network(theta)(x), components)

        def rate(theta, x, t):
            return jnp.reshape(equation.rhs(network(theta), x, t), components)

        def trace(theta, x):
            _, activations, signals = network(theta).trace(x)
            return activations, signals

        self._values = _over_points(value, 0)
        self._rates = _over_points(rate, 1)
        # Points run along the last axis: one activation at all points is one stretch of memory.
        self._traces = jax.jit(jax.vmap(trace, in_axes=(None, 0), out_axes=(1, 2)))
        self._conditions, self._condition_columns = [], []
        for points in self.boundary:
            residual = self.problem.conditions[points.segment].residual

            def g(theta, x, normal, t, residual=residual):
                return jnp.atleast_1d(residual(network(theta), x, normal, t))

            self._conditions.append(jax.jit(jax.vmap(g, in_axes=(None, 0, 0, None))))
            self._condition_columns.append(jax.jit(_reverse_columns(g)))

    def _on_points(self, function: Callable, theta: Array, x: Array, *arguments: float) -> Array:
        with jax.enable_x64(True):
            # A NumPy number and Python's own would be two programs.
            return np.asarray(function(theta, x, *map(float, arguments)))


def unit_lengths(lengths: Float[Array, " k"]) -> Float[Array, " k"]:
    """Norms of columns, none so small beside the largest that its parameter would run away."""
    largest = lengths.max(initial=0.0)
    return np.maximum(lengths, SHORTEST * largest) if largest > 0 else np.ones(len(lengths))


def root_mean_square(values: Float[np.ndarray, "..."]) -> float:
    """√(mean of squares); zero of nothing."""
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0


def _over_points(function: Callable, extra: int) -> Callable:
    """A function of (θ, x, …) at all points, in chunks where there are many."""
    none = (None,) * extra

    def at_points(theta, x, *arguments):
        if len(x) <= 2 * CHUNK:
            return jax.vmap(function, in_axes=(None, 0, *none))(theta, x, *arguments)
        return jax.lax.map(lambda y: function(theta, y, *arguments), x, batch_size=CHUNK)

    return jax.jit(at_points)


def _reverse_columns(g: Callable) -> Callable:
    """Active columns of ∂g/∂θ at all points of a segment, shape (active, points, components)."""

    def columns(theta, x, normal, t, active):
        def at_point(arguments):
            return jax.jacrev(g)(theta, *arguments, t)[:, active].T

        # All of θ's derivatives exist for 64 points at a time, the active ones for all.
        found = jax.lax.map(at_point, (x, normal), batch_size=64)
        return jnp.moveaxis(found, 0, 1)

    return columns
