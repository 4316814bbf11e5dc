"""Functions that are linear in their head, on rows that several devices share.

What `LinearSpace` is on one host. Nothing of the length of the rows is kept but the orthogonal
factors: values, L(u) and g(u) are evaluated where they are asked for, and so are the products
L̄c and B̄c, as derivatives along c. A step exchanges vectors of the size of the head.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Inexact

from tengbc.errors import DivergedError, NonFiniteError
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq.blocks import RowBlocks
from tengbc.lstsq.tall import RegularisedTallQR, block_factors
from tengbc.networks import Network
from tengbc.pointwise import check_condition
from tengbc.problem import Problem
from tengbc.projection import BlockedCollocation, Fit
from tengbc.projection.blocked import at_points
from tengbc.projection.fit import MOST_PASSES, FixedPoint, fit_quantities
from tengbc.spaces.interface import AbstractLinearisedSpace, Arrays
from tengbc.spaces.linear import BOUNDARY_WEIGHT, DAMPING, MOST_FACTORISATIONS
from tengbc.spaces.operators import linear_structure

Array = np.ndarray


class BlockedLinearSpace(AbstractLinearisedSpace):
    """Functions with given features, on rows in blocks; rows are those of this process."""

    def __init__(
        self,
        blocks: RowBlocks,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
        damping: float = DAMPING,
    ):
        self.blocks, self.damping = blocks, damping
        self.collocation = BlockedCollocation(blocks, problem, network, interior, boundary)
        self.body = self.collocation.parameters.start[: self._head.start].copy()
        self.unknowns = len(self.collocation.parameters) - self._head.start
        self.structure = linear_structure(problem, interior, boundary)
        self._constant: dict[str, Array] = {}
        self._compile()
        self.linearise(0.0, np.zeros(self.unknowns))

    def _compile(self) -> None:
        collocation, split = self.collocation, self._head.start
        laws = collocation.laws

        def by_head(law):
            """Derivatives of law(θ, …) by the head, at one point."""

            def rows(theta, *arguments):
                of_head = lambda c: law(jnp.concatenate([theta[:split], c]), *arguments)
                return jax.jacrev(of_head)(theta[split:])

            return rows

        def inside(law, theta, rows, *t):
            found = at_points(lambda x: by_head(law)(theta, x, *t), rows["x"])
            return found.reshape(-1, self.unknowns)

        def outside(theta, t, rows):
            sides = zip(laws, rows["sides"], strict=True)
            return [
                at_points(lambda p, g=g: by_head(g)(theta, *p, t), side).reshape(-1, self.unknowns)
                for g, side in sides
            ]

        def squares(shared, rows):
            """Sums of squares of Φ, L̄ and the B̄ of each segment, over rows that there are."""
            theta, t = shared
            parts = [
                inside(collocation.value, theta, rows),
                inside(collocation.rate, theta, rows, t),
            ]
            parts += outside(theta, t, rows)
            real = [rows["real"][0], *rows["real"]]
            return jnp.stack([jnp.sum(r[:, None] * a**2) for a, r in zip(parts, real, strict=True)])

        def values(shared, rows):
            theta, t = shared
            found = [inside(collocation.value, theta, rows), *outside(theta, t, rows)]
            return rows["scale"][:, None] * jnp.concatenate(found)

        def stage(shared, rows):
            theta, t, tau = shared
            first = inside(collocation.value, theta, rows)
            first = first - tau * inside(collocation.rate, theta, rows, t)
            found = [first, *(block.astype(first.dtype) for block in outside(theta, t, rows))]
            return rows["scale"][:, None] * jnp.concatenate(found)

        def along(shared, rows):
            """L̄c and B̄c."""
            theta, direction, t = shared
            rate = lambda x: jax.jvp(lambda th: collocation.rate(th, x, t), (theta,), (direction,))[
                1
            ]
            found = [at_points(rate, rows["x"]).ravel()]
            for g, side in zip(laws, rows["sides"], strict=True):
                slope = lambda p, g=g: jax.jvp(lambda th: g(th, *p, t), (theta,), (direction,))[1]
                found.append(at_points(slope, side).ravel())
            return jnp.concatenate(found)

        program = self.blocks.program
        self._squares, self._along = program(squares), program(along)
        self._value_factors = program(block_factors(values))
        self._stage_factors = program(block_factors(stage))

    @property
    def _head(self) -> slice:
        return self.collocation.parameters.head

    @property
    def linear(self) -> bool:
        return self.structure.rates_are_matrix and self.structure.conditions_are_matrix

    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        return np.concatenate([self.body, c])

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        return theta[self._head]

    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        if c.ndim > 1:
            return np.stack([self.rows(each) for each in c])
        return self.collocation.values(self.theta(c)).ravel()

    def rows_norm(self, c: Float[Array, "... n"]) -> float:
        return self._norm(*([self.rows(each) for each in np.atleast_2d(c)]))

    def _norm(self, *rows: Float[Array, " _"]) -> float:
        """The 2-norm over all rows of all processes."""
        return self.blocks.norm(self._beside(*rows))

    def _beside(self, *rows: Inexact[Array, " _"]) -> Inexact[Array, "own k"]:
        """Vectors of rows as blocks, side by side."""
        return np.concatenate([r.reshape(self.blocks.own, -1) for r in rows], axis=1)

    # Matrices and factorisations.

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        collocation, t, theta = self.collocation, float(t), self.theta(c)
        rows = {**collocation.rows, "real": tuple(map(self.blocks.placed, collocation.real))}
        squares = self.blocks.sum(self._squares((theta, t), rows))
        if not np.isfinite(squares).all():
            raise NonFiniteError(
                f"The linear part of the equation or of a condition is not finite at t = {t:.6g}; "
                f"check their coefficients there, or take a smaller time step."
            )
        counts = self.blocks.sum(
            np.array([[r.sum() for r in own] for own in zip(*collocation.real, strict=True)])
        )
        means = np.sqrt(squares / np.maximum([counts[0], *counts], 1.0) / self.unknowns)
        self.linearised_at, self.linearised_around = t, c.copy()
        self._phi_norm = float(np.sqrt(squares[0]))
        self.scale = self._row_scale(float(means[0]), means[2:], t)
        self._factorisations: dict[complex, RegularisedTallQR] = {}

    def _row_scale(self, unit: float, means: Float[Array, " s"], t: float) -> Float[Array, "own k"]:
        """√w inside, 10·√(ρw) in units of the interior rows outside, as `LinearSpace` has it."""
        collocation, unit = self.collocation, unit or 1.0
        length = collocation.problem.domain.scale
        parts = np.split(collocation.scale, collocation.ends[:-1], axis=1)
        affine = self.structure.affine_conditions
        for k, (points, mean) in enumerate(zip(collocation.boundary, means, strict=True)):
            if affine[k] and parts[k + 1].size:
                check_condition(points.segment, np.array([mean]), t)
            parts[k + 1] = (
                BOUNDARY_WEIGHT * np.sqrt(length) * (unit / (mean or unit)) * parts[k + 1]
            )
        return np.concatenate(parts, axis=1)

    def factorisation(self, tau: complex) -> RegularisedTallQR:
        """The factorised rows (Φ − τL̄; B̄), kept while the matrices stay."""
        known = self._factorisations
        if tau not in known:
            while len(known) >= MOST_FACTORISATIONS:
                del known[next(iter(known))]
            known[tau] = self._factorised(tau, self.scale)
        known[tau] = known.pop(tau)  # what was used longest ago makes room first
        return known[tau]

    def _factorised(self, tau: complex, scale: Float[Array, "own k"]) -> RegularisedTallQR:
        rows = {**self.collocation.rows, "scale": scale}
        theta, t = self.theta(self.linearised_around), self.linearised_at
        if tau:
            factors = self._stage_factors((theta, t, tau), rows)
        else:
            factors = self._value_factors((theta, t), rows)
        return RegularisedTallQR(self.blocks, factors, self.damping)

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        return self.factorisation(tau).solve(self.scale * self._beside(right, data))

    def propagator(self, taus, shares, mixing, weights):
        """Stage by stage: one matrix for all would have to hold sums over all rows."""

        def step(c: Float[Array, " n"], times: Float[Array, " s"]) -> Float[Array, " n"]:
            inside, outside = self.remainders(np.tile(c, (len(times), 1)), times)
            u, new = self.rows(c), np.zeros(self.unknowns)
            for j, tau in enumerate(taus):
                real = not tau.imag
                share, betas = shares[j], mixing[j]
                right, data = share * u + tau * (betas @ inside), betas @ outside
                if real:
                    found = self.solve(float(tau.real), right.real, data.real)
                else:
                    found = self.solve(complex(tau), right, data)
                new += np.real(weights[j] * found)
            return new

        return step

    # The remainder.

    def remainder(
        self, c: Float[Array, " n"], t: float
    ) -> tuple[Float[Array, " i"], Float[Array, " b"]]:
        return self.rate_remainder(c, t), self.boundary_remainder(c, t)

    def remainders(
        self, heads: Float[Array, "s n"], times: Float[Array, " s"]
    ) -> tuple[Float[Array, "s i"], Float[Array, "s b"]]:
        inside, outside = zip(
            *(self.remainder(c, float(t)) for c, t in zip(heads, times, strict=True)), strict=True
        )
        return np.stack(inside), np.stack(outside)

    def rate_remainder(self, c: Float[Array, " n"], t: float) -> Float[Array, " i"]:
        """e = L(u) − L̄c."""
        if not self.structure.rates_are_matrix:
            rates = self.collocation.rates(self.theta(c), t).ravel()
            return rates - self._product(c)[:, : self.collocation.ends[0]].ravel()
        if self.structure.source_is_constant and "source" in self._constant:
            return self._constant["source"]
        zero = self.theta(np.zeros(self.unknowns))
        self._constant["source"] = self.collocation.rates(zero, t).ravel()
        return self._constant["source"]

    def boundary_remainder(self, c: Float[Array, " n"], t: float) -> Float[Array, " b"]:
        """d = B̄c − g(u)."""
        if not self.structure.conditions_are_matrix:
            product = self._product(c)[:, self.collocation.ends[0] :].ravel()
            return product - self._conditions(c, t)
        if self.structure.data_are_constant and "data" in self._constant:
            return self._constant["data"]
        self._constant["data"] = -self._conditions(np.zeros(self.unknowns), t)
        return self._constant["data"]

    def _product(self, c: Float[Array, " n"]) -> Float[Array, "own k"]:
        """L̄c and B̄c."""
        around = self.theta(self.linearised_around)
        direction = np.concatenate([np.zeros_like(self.body), c])
        shared = (around, direction, self.linearised_at)
        return self.blocks.local(self._along(shared, self.collocation.rows))

    def _conditions(self, c: Float[Array, " n"], t: float) -> Float[Array, " b"]:
        """g(u) on all segments, block by block."""
        found = self.collocation.boundary_residual(self.theta(c), t)
        return self._beside(*(g.ravel() for g in found)).ravel() if found else np.zeros(0)

    # What every scheme may ask.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return self.collocation.values(theta)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        return self.collocation.rates(theta, t)

    def size(self, theta: Float[Array, " p"]) -> float:
        return self.collocation.inside_size(self.values(theta))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        segments = [points.segment for points in self.collocation.boundary]
        return fit_quantities(fits, segments, self.collocation.boundary_sizes(theta, t))

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        """The function nearest to the target that meets the conditions of time t."""
        c, inside = self.head(theta), target.ravel()
        start = self._misfit(c, inside, t)
        monitor = FixedPoint()
        for _ in range(MOST_PASSES):
            outside = self.boundary_remainder(c, t)
            new = self.solve(0.0, inside, outside)
            change, size = self.rows_norm(new - c), self.rows_norm(new)
            c = new
            settled = monitor.reached(change, size, self.noise(c))
            if self.structure.conditions_are_matrix or settled:
                residual = self._misfit(c, inside, t)
                whole = self.blocks.norm(self.scale * self._beside(inside, outside))
                return self._fit(c, residual, start, whole)
            self.linearise(t, c)
        raise DivergedError(
            f"The fit of the conditions at t = {t:.6g} does not converge; check that initial "
            f"values and conditions fit together."
        )

    def project_inside(self, target: Float[Array, "n m"]) -> Float[Array, " p"]:
        """θ of the function nearest to the target, whatever the conditions say."""
        scale = self.scale.copy()
        scale[:, self.collocation.ends[0] :] = 0.0
        nothing = np.zeros(scale[:, self.collocation.ends[0] :].size)
        factored = self._factorised(0.0, scale)
        return self.theta(factored.solve(scale * self._beside(target.ravel(), nothing)))

    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        missed, asked = self._conditions(c, t), self.boundary_remainder(c, t)
        outside = self.scale[:, self.collocation.ends[0] :]
        residual = self.blocks.norm(outside * self._beside(missed))
        whole = self.blocks.norm(self.scale * self._beside(self.rows(c), asked))
        return self._fit(c, residual, residual, whole)

    def _fit(self, c, residual: float, start: float, whole: float) -> Fit:
        condition = self.factorisation(0.0).condition
        return Fit(self.theta(c), residual, start, whole, self.unknowns, condition, 1)

    def noise(self, c: Float[Array, "..."]) -> float:
        epsilon = float(np.finfo(float).eps)
        return 32 * epsilon * self._phi_norm * float(np.linalg.norm(c))

    def _misfit(self, c, inside, t: float) -> float:
        missed = self._beside(inside - self.rows(c), self._conditions(c, t))
        return self.blocks.norm(self.scale * missed)

    # What a resumed march needs.

    def memory(self) -> Arrays:
        """Where the matrices were taken: with that they can be made again, bit for bit."""
        time, head = np.array([self.linearised_at]), self.linearised_around
        return {"time": time, "head": head, "body": self.body}

    def remember(self, memory: Arrays) -> None:
        t, c = float(memory["time"][0]), memory["head"]
        if t != self.linearised_at or not np.array_equal(c, self.linearised_around):
            self.linearise(t, c)
