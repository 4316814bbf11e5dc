"""A problem on points that several devices share: what `Collocation` is on one host.

Each process holds the rows of its own blocks: `values`, `rates` and `residual` are those, as NumPy
arrays, and schemes add them up as always. Everything that needs all rows (norms, least squares, the
look for NaN) is asked for here and is the same in every process. Jacobians stay on their device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq.blocks import RowBlocks
from tengbc.lstsq.tall import TallLeastSquares, block_triangles, whole_triangle
from tengbc.networks import Network, Parameters
from tengbc.pointwise import check_finite
from tengbc.problem import Problem
from tengbc.projection.collocation import unit_lengths

Array = np.ndarray
BATCH = 64
"""Points whose full gradients by θ exist at once."""


class BlockedCollocation:
    """The rows of a problem on given points, in blocks.

    A block has an equal part of the interior points and of those of each segment; where they do not
    come out even, points are repeated with weight zero.
    """

    def __init__(
        self,
        blocks: RowBlocks,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
    ):
        self.blocks, self.problem, self.network = blocks, problem, network
        self.interior, self.boundary = interior, tuple(boundary)
        self.parameters, self.components = Parameters(network), problem.components or 1
        self._compile()
        counts = [
            jax.eval_shape(g, self.parameters.start, points.x[0], points.normal[0], 0.0).size
            for g, points in zip(self.laws, self.boundary, strict=True)
        ]
        weights = [(interior, self.components), *zip(self.boundary, counts, strict=True)]
        scales = [
            np.repeat(np.sqrt(blocks.cut(points.w)) * blocks.real(len(points)), count, axis=1)
            for points, count in weights
        ]
        self.ends = np.cumsum([scale.shape[1] for scale in scales])
        """Where the interior rows of a block end, and those of each segment."""
        self.scale = np.concatenate(scales, axis=1)
        self.real = [
            np.repeat(blocks.real(len(points)), count, axis=1) for points, count in weights
        ]
        self.rows = {
            "x": blocks.placed(blocks.cut(interior.x)),
            "sides": tuple(
                (blocks.placed(blocks.cut(side.x)), blocks.placed(blocks.cut(side.normal)))
                for side in self.boundary
            ),
        }

    def _compile(self) -> None:
        problem, network, m = self.problem, self.parameters.network, self.components
        laws: list[Callable] = []
        for points in self.boundary:
            residual = problem.conditions[points.segment].residual

            def g(theta, x, normal, t, residual=residual):
                return jnp.atleast_1d(residual(network(theta), x, normal, t))

            laws.append(g)
        self.laws = laws

        def value(theta, x):
            return jnp.reshape(network(theta)(x), m)

        def rate(theta, x, t):
            return jnp.reshape(problem.equation.rhs(network(theta), x, t), m)

        self.value, self.rate = value, rate

        def inside(shared, rows):
            return at_points(lambda x: value(shared, x), rows["x"])

        def rates(shared, rows):
            return at_points(lambda x: rate(*_around(shared, x)), rows["x"])

        def outside(shared, rows):
            theta, t = shared
            sides = zip(laws, rows["sides"], strict=True)
            return tuple(
                at_points(lambda p, g=g: g(theta, *p, t), side).ravel() for g, side in sides
            )

        def both(theta, t, rows):
            return jnp.concatenate([inside(theta, rows).ravel(), *outside((theta, t), rows)])

        def columns(shared, rows):
            """The active columns and the residual beside them, (rows, k + 1)."""
            theta, t, active, left, right = shared
            found = [_inside_columns(network(theta), rows["x"], left, right)]
            for g, side in zip(laws, rows["sides"], strict=True):
                slopes = lambda p, g=g: jax.jacrev(g)(theta, *p, t)[:, active]
                found.append(jax.lax.map(slopes, side, batch_size=BATCH).reshape(-1, len(active)))
            matrix = rows["scale"][:, None] * jnp.concatenate(found)
            return jnp.concatenate([matrix, rows["residual"][:, None]], axis=1)

        def adjoint(shared, rows):
            theta, t, active = shared
            _, pull = jax.vjp(lambda th: rows["scale"] * both(th, t, rows), theta)
            return pull(rows["residual"])[0][active]

        self._inside, self._rates = self.blocks.program(inside), self.blocks.program(rates)
        self._outside = self.blocks.program(outside)
        self._triangles = self.blocks.program(block_triangles(columns))
        self._adjoint = self.blocks.program(adjoint)

    @property
    def shape(self) -> tuple[int, int]:
        """Blocks of this process, rows of a block."""
        return self.scale.shape

    # What a field is and does on the points.

    def sampled(self, function: Callable[[Points], Float[Array, "n m"]]) -> Float[Array, "n m"]:
        """A function at this process's points; all are looked at, so that all hear of an error."""
        blocks, size = self.blocks, self.blocks.size(len(self.interior))
        rows = np.minimum(np.arange(blocks.count * size), len(self.interior) - 1)
        parts = [
            function(Points(self.interior.x[part], self.interior.w[part]))
            for part in rows.reshape(blocks.count, size)
        ]
        return np.concatenate([parts[b] for b in blocks.range])

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        """u_θ at this process's interior points."""
        found = self.blocks.local(self._inside(theta, {"x": self.rows["x"]}))
        return found.reshape(-1, self.components)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        """L(u_θ) at this process's interior points at time t."""
        found = self.blocks.local(self._rates((theta, float(t)), {"x": self.rows["x"]}))
        self._check({"The equation's right-hand side": (found, self.rows["x"])}, t)
        return found.reshape(-1, self.components)

    def boundary_residual(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "own k"]]:
        """g(u_θ) on each boundary segment at time t, at this process's points."""
        if not self.boundary:
            return []
        found = self._outside((theta, float(t)), {"sides": self.rows["sides"]})
        local = [self.blocks.local(g) for g in found]
        sides = zip(self.boundary, self.rows["sides"], local, strict=True)
        self._check({f"The condition on {p.segment}": (g, x) for p, (x, _), g in sides}, t)
        return local

    def boundary_sizes(self, theta: Float[Array, " p"], t: float) -> list[float]:
        """The root mean square of what is left of each condition."""
        return self._mean_sizes(self.boundary_residual(theta, t), self.real[1:])

    def inside_size(self, values: Float[Array, "n m"]) -> float:
        """The root mean square of values at the interior points."""
        return self._mean_sizes([values.reshape(self.real[0].shape)], self.real[:1])[0]

    def _mean_sizes(self, rows: Sequence[Array], real: Sequence[Array]) -> list[float]:
        """The root mean squares of rows, those left out that only fill the blocks."""
        if not rows:
            return []
        parts = [
            [[np.vdot(r[b] * v[b], v[b]), r[b].sum()] for v, r in zip(rows, real, strict=True)]
            for b in range(self.blocks.own)
        ]
        found = self.blocks.sum(np.array(parts))
        return [float(np.sqrt(squares / max(count, 1.0))) for squares, count in found]

    def _check(self, found: dict[str, tuple[Float[Array, "own ..."], jax.Array]], t: float) -> None:
        """Stop all processes at the first NaN or infinity that any of them has, and where."""
        told = np.zeros((self.blocks.own, 1 + self.problem.domain.dim))
        for number, (values, x) in enumerate(found.values(), start=1):
            if np.isfinite(values).all():
                continue
            for b, points in enumerate(self.blocks.local(x)):
                bad = ~np.isfinite(values[b].reshape(len(points), -1)).all(axis=1)
                if bad.any() and not told[b, 0]:
                    told[b] = [number, *points[np.argmax(bad)]]
        everywhere = self.blocks.gather(self.blocks.placed(told))
        wrong = everywhere[everywhere[:, 0] > 0]
        if len(wrong):
            what = list(found)[int(wrong[0, 0]) - 1]
            check_finite(what, np.full((1, 1), np.nan), wrong[:1, 1:], t)

    def norm(self, values: Float[Array, "n m"]) -> float:
        """The L² norm over the domain of values at the interior points."""
        inside = self.scale[:, : self.ends[0]]
        return self.blocks.norm(inside * values.reshape(inside.shape))

    # The least-squares problem min ‖r − Jδ‖.

    def residual(
        self, theta: Float[Array, " p"], target: Float[Array, "n m"], t: float
    ) -> Float[Array, " r"]:
        """r = (target − u, −g), scaled: this process's part."""
        inside = (target - self.values(theta)).reshape(self.blocks.own, -1)
        outside = [-g for g in self.boundary_residual(theta, t)]
        return (self.scale * np.concatenate([inside, *outside], axis=1)).ravel()

    def size(self, residual: Float[Array, " r"]) -> float:
        """The norm of a residual over all rows."""
        return self.blocks.norm(residual.reshape(self.shape))

    def linearised(
        self,
        theta: Float[Array, " p"],
        t: float,
        active: Int[Array, " k"],
        residual: Float[Array, " r"],
        method: str,
    ) -> tuple[Float[Array, " k"], TallLeastSquares]:
        """The lengths of the active columns, and the problem with columns of length one."""
        t, scale = float(t), self.scale
        left, right = (index[active] for index in reversed(self.network.layout()))
        rows: dict[str, Any] = {**self.rows, "scale": scale}
        shared = (theta, t, active, left, right)
        with_residual = {**rows, "residual": residual.reshape(self.shape)}
        gathered = self.blocks.gather(self._triangles(shared, with_residual))
        if not np.isfinite(gathered).all():
            # The residual is finite: a slope is not, and the place is not worth another pass.
            check_finite("The derivative by θ", np.full((1, 1), np.nan), self.interior.x[:1], t)
        triangle = whole_triangle(gathered)
        lengths = unit_lengths(np.linalg.norm(triangle[:, :-1], axis=0))
        triangle[:, :-1] /= lengths

        def adjoint(b: Float[Array, " r"]) -> Float[Array, " k"]:
            parts = self._adjoint((theta, t, active), {**rows, "residual": b.reshape(self.shape)})
            return self.blocks.sum(parts) / lengths

        return lengths, TallLeastSquares(triangle, adjoint, method)


def at_points(function: Callable, points: Any) -> Any:
    """A function at all points of a block, some hundred at a time."""
    return jax.lax.map(function, points, batch_size=256)


def _around(shared, x):
    theta, t = shared
    return theta, x, t


def _inside_columns(network: Network, x, left, right) -> jax.Array:
    """Columns of ∂u/∂θ as products of activations and signals, (rows, k)."""
    _, activations, signals = at_points(network.trace, x)
    # (points, components, k): the rows of a point's components stand together.
    found = signals[:, :, right] * activations[:, None, left]
    return found.reshape(-1, found.shape[-1])
