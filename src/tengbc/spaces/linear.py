"""Functions that are linear in their unknowns: features Φ at points, stages as least squares.

A function is u = Φc. Around a time and a state the equation reads L(u) = L̄c + e and a condition
g(u) = B̄c − d, with matrices L̄, B̄ and a remainder e, d. Where the operators are affine and their
matrices do not change, the remainder is what sources and boundary values give and does not depend
on u; then every stage of every step is one product with a factorisation kept from the first.
Otherwise the remainder is evaluated as it is, and schemes iterate on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float, Inexact

from tengbc.errors import DivergedError
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks import Network
from tengbc.pointwise import check_finite
from tengbc.problem import Problem
from tengbc.projection import Collocation, Fit
from tengbc.projection.collocation import root_mean_square
from tengbc.projection.fit import MOST_PASSES, FixedPoint, fit_quantities
from tengbc.spaces.interface import AbstractLinearisedSpace, Arrays
from tengbc.spaces.operators import LinearisedOperators

Array = np.ndarray
DAMPING = 1e-13
"""Relative damping of the least squares: some hundred rounding errors."""
BOUNDARY_WEIGHT = 10.0
"""Boundary rows count this much more than their measure says. With 1 some marches are unstable: on
an L-shaped domain a mode near the corners was amplified by −4 in each step."""
MOST_FACTORISATIONS = 8
"""How many are kept: those of two step lengths, since steps that grow do not return to an earlier
length."""


@runtime_checkable
class Placement(Protocol):
    """Places features and points anew as the solution moves."""

    def adapt(self, space: LinearSpace, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        """θ of the same function, on other features if those at hand no longer suit it."""
        ...

    def memory(self) -> Arrays:
        """What decides its later choices."""
        ...

    def remember(self, space: LinearSpace, memory: Arrays) -> None:
        """Place features and points as they were then."""
        ...


class LinearSpace(AbstractLinearisedSpace):
    """Functions with given features, on the rows of a problem.

    `linearise` takes the matrices, `remainder` evaluates what they leave out, `solve` fits the rows
    of a stage. `many_solves` says that factorisations will serve some hundred right-hand sides;
    `placement` moves features and points during a march.
    """

    def __init__(
        self,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
        damping: float = DAMPING,
        many_solves: bool = False,
        placement: Placement | None = None,
    ):
        self.collocation = Collocation(problem, network, interior, boundary)
        self.damping, self.many_solves, self.placement = damping, many_solves, placement
        self.body = self.collocation.parameters.start[: self._head.start].copy()
        self.unknowns = len(self.collocation.parameters) - self._head.start
        self.operators = LinearisedOperators(self.collocation)
        self.linearise(0.0, np.zeros(self.unknowns))

    @property
    def _head(self) -> slice:
        return self.collocation.parameters.head

    @property
    def linear(self) -> bool:
        return self.operators.rates_are_matrix and self.operators.conditions_are_matrix

    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        return np.concatenate([self.body, c])

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        return theta[self._head]

    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        return self.phi @ c if c.ndim == 1 else c @ self.phi.T

    # Matrices and factorisations.

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        theta, t = self.theta(c), float(t)
        values, rates = self.operators.interior_matrices(theta, t)
        blocks = self.operators.boundary_matrices(theta, t)
        # Checked before anything is set: after an error the matrices are what they were before.
        check_finite("The equation's linear part", rates, self.collocation.interior.x, t)
        self.linearised_at, self.linearised_around = t, c.copy()
        self.phi = values.reshape(-1, self.unknowns)
        self.rate_matrix = rates.reshape(-1, self.unknowns)
        blocks = [block.reshape(-1, self.unknowns) for block in blocks]
        self._segment_ends = np.cumsum([len(block) for block in blocks])[:-1]
        self.boundary_matrix = np.concatenate(blocks or [np.zeros((0, self.unknowns))])
        self.scale = self._row_scale(blocks)
        self._factorisations: dict[complex, RegularisedQR] = {}

    def _row_scale(self, blocks: list[Array]) -> Float[Array, " r"]:
        """√w inside; on the boundary 10·√(ρw), in units of the interior rows.

        Lengths are measured by the domain's size ρ and each condition by the size of its rows, so
        the balance does not depend on the units a problem is stated in.
        """
        collocation = self.collocation
        inside = np.repeat(np.sqrt(collocation.interior.w), collocation.components)
        unit, parts = root_mean_square(self.phi) or 1.0, [inside]
        for points, block in zip(collocation.boundary, blocks, strict=True):
            length = collocation.problem.domain.scale
            weight = np.repeat(np.sqrt(points.w * length), len(block) // len(points))
            parts.append(BOUNDARY_WEIGHT * weight * (unit / (root_mean_square(block) or unit)))
        return np.concatenate(parts)

    def factorisation(self, tau: complex) -> RegularisedQR:
        """The factorised rows (Φ − τL̄; B̄), kept while the matrices stay."""
        known = self._factorisations
        if tau not in known:
            while len(known) >= MOST_FACTORISATIONS:
                del known[next(iter(known))]
            known[tau] = self.factorise(tau, self.many_solves)
        known[tau] = known.pop(tau)  # what was used longest ago makes room first
        return known[tau]

    def factorise(self, tau: complex, explicit: bool = False) -> RegularisedQR:
        """The rows (Φ − τL̄; B̄), factorised."""
        inside = self.phi - tau * self.rate_matrix if tau else self.phi
        matrix = np.concatenate([inside, self.boundary_matrix.astype(inside.dtype)])
        matrix *= self.scale[:, None]
        return RegularisedQR(matrix, self.damping, explicit)

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        return self.factorisation(tau).solve(self.scale * np.concatenate([right, data]))

    def propagator(self, taus, shares, mixing, weights) -> Propagator:
        return Propagator(self, taus, shares, mixing, weights)

    # The remainder.

    def remainder(
        self, c: Float[Array, " n"], t: float
    ) -> tuple[Float[Array, " i"], Float[Array, " b"]]:
        return self.rate_remainder(c, t), self.boundary_remainder(c, t)

    def remainders(
        self, heads: Float[Array, "s n"], times: Float[Array, " s"]
    ) -> tuple[Float[Array, "s i"], Float[Array, "s b"]]:
        both = list(zip(heads, times, strict=True))
        outside = np.stack([self.boundary_remainder(c, t) for c, t in both])
        if self.operators.derivatives is None:
            return np.stack([self.rate_remainder(c, t) for c, t in both]), outside
        rates, x = self.operators.derivatives.rates(heads, times), self.collocation.interior.x
        if not np.isfinite(rates).all():
            for found, t in zip(rates, times, strict=True):
                check_finite("The equation's right-hand side", found, x, t)
        return rates.reshape(len(heads), -1) - heads @ self.rate_matrix.T, outside

    def rate_remainder(self, c: Float[Array, " n"], t: float) -> Float[Array, " i"]:
        """e = L(u) − L̄c."""
        if self.operators.rates_are_matrix:
            return self.operators.source(t)
        if self.operators.derivatives is not None:
            return self.remainders(c[None], np.array([t]))[0][0]
        rates = self.collocation.rates(self.theta(c), t)
        return rates.ravel() - self.rate_matrix @ c

    def boundary_remainder(self, c: Float[Array, " n"], t: float) -> Float[Array, " b"]:
        """d = B̄c − g(u)."""
        if self.operators.conditions_are_matrix:
            return self.operators.data_at(t)
        found = self.collocation.boundary_residual(self.theta(c), t)
        residual = np.concatenate([g.ravel() for g in found]) if found else np.zeros(0)
        return self.boundary_matrix @ c - residual

    # What every scheme may ask.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return (self.phi @ self.head(theta)).reshape(-1, self.collocation.components)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        c = self.head(theta)
        rates = self.rate_matrix @ c + self.rate_remainder(c, t)
        return rates.reshape(-1, self.collocation.components)

    def size(self, theta: Float[Array, " p"]) -> float:
        return root_mean_square(self.values(theta))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        segments = [points.segment for points in self.collocation.boundary]
        sizes = [root_mean_square(g) for g in self.boundary_residual(theta, t)]
        return fit_quantities(fits, segments, sizes)

    def boundary_residual(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "..."]]:
        """g(u_θ) on each boundary segment at time t."""
        c = self.head(theta)
        residual = self.boundary_matrix @ c - self.boundary_remainder(c, t)
        # Without a boundary there is no segment; np.split would make an empty one.
        return np.split(residual, self._segment_ends) if self.collocation.boundary else []

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        """The function nearest to the target that meets the conditions of time t."""
        c, inside = self.head(theta), target.ravel()
        start = self._misfit(c, inside, self.boundary_remainder(c, t))
        monitor = FixedPoint()
        for _ in range(MOST_PASSES):
            outside = self.boundary_remainder(c, t)
            new = self.solve(0.0, inside, outside)
            change, size = (np.linalg.norm(self.phi @ v) for v in (new - c, new))
            c = new
            settled = monitor.reached(float(change), float(size), self.noise(c))
            if self.operators.conditions_are_matrix or settled:
                return self._fit(c, inside, outside, start)
            # Newton's method: the conditions' matrix follows the state.
            self.linearise(t, c)
        raise DivergedError(
            f"The fit of the conditions at t = {t:.6g} does not converge; check that initial "
            f"values and conditions fit together."
        )

    def project_inside(self, target: Float[Array, "n m"]) -> Float[Array, " p"]:
        """θ of the function nearest to the target, whatever the conditions say."""
        rows = self.collocation.interior_rows
        factored = RegularisedQR(self.phi * self.scale[:rows, None], self.damping)
        return self.theta(factored.solve(self.scale[:rows] * target.ravel()))

    def _fit(self, c, inside, outside, start: float) -> Fit:
        """What a projection reports: the misfit of its rows, rank and condition."""
        residual = self._misfit(c, inside, outside)
        whole = float(np.linalg.norm(self.scale * np.concatenate([inside, outside])))
        condition = self.factorisation(0.0).condition
        return Fit(self.theta(c), residual, start, whole, self.unknowns, condition, 1)

    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        rows, asked = self.collocation.interior_rows, self.boundary_remainder(c, t)
        missed = asked - self.boundary_matrix @ c
        residual = float(np.linalg.norm(self.scale[rows:] * missed))
        # A field that starts from zero is small at first: what its conditions ask for is not.
        whole = float(np.linalg.norm(self.scale * np.concatenate([self.phi @ c, asked])))
        condition = self.factorisation(0.0).condition
        return Fit(self.theta(c), residual, residual, whole, self.unknowns, condition, 1)

    def noise(self, c: Float[Array, "..."]) -> float:
        """Functions that are not smooth have large heads, whose contributions nearly cancel.

        Measured: round-off changes up to 10 ε‖Φ‖‖c‖.
        """
        epsilon = float(np.finfo(float).eps)
        return 32 * epsilon * float(np.linalg.norm(self.phi) * np.linalg.norm(c))

    def _misfit(self, c, inside, outside) -> float:
        rows = np.concatenate([inside - self.phi @ c, outside - self.boundary_matrix @ c])
        return float(np.linalg.norm(self.scale * rows))

    # What moves during a march.

    def adapt(self, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        return theta if self.placement is None else self.placement.adapt(self, theta, t)

    def place(self, body: Float[Array, " q"], interior: Points) -> None:
        """Take other features of the same architecture, and as many other points."""
        self.body = body.copy()
        self.collocation.move(interior)
        self.operators.place(self.theta(np.zeros(self.unknowns)))

    def memory(self) -> Arrays:
        """Where the matrices were taken: with that they can be made again, bit for bit."""
        placed = {} if self.placement is None else self.placement.memory()
        return {
            "time": np.array([self.linearised_at]),
            "head": self.linearised_around,
            "body": self.body,
            **placed,
        }

    def remember(self, memory: Arrays) -> None:
        t, c = float(memory["time"][0]), memory["head"]
        if self.placement is not None:
            self.placement.remember(self, memory)
        elif t == self.linearised_at and np.array_equal(c, self.linearised_around):
            return
        self.linearise(t, c)


class Propagator:
    """One step of a linear implicit scheme as one matrix, for marches of many steps.

    Where the matrices stay, u(t + Δt) is an affine function of u(t) and of the data at the stage
    times. In coordinates y = R₀c, with R₀ the triangle of the factorised rows (Φ; B̄), y is as large
    as u and its boundary values are, and

        y⁺ = S·y + Σᵢ Eᵢ eᵢ + Σᵢ Bᵢ dᵢ

    with matrices of moderate size: a step costs a product with S instead of a fit for each stage.
    The stages are those that `AbstractLinearisedSpace.propagator` describes.
    """

    def __init__(
        self,
        space: LinearSpace,
        taus: Inexact[Array, " j"],
        shares: Inexact[Array, " j"],
        mixing: Inexact[Array, "j s"],
        weights: Inexact[Array, " j"],
    ):
        self.space, rows = space, space.collocation.interior_rows
        self.triangle = space.factorisation(0.0).triangle
        values = sla.solve_triangular(self.triangle, space.phi.T, trans=1, check_finite=False).T
        # What does not change in time needs no matrix for each stage, only their sum.
        total = mixing.sum(axis=1, keepdims=True)
        source_mixing = total if space.operators.source_is_constant else mixing
        data_mixing = total if space.operators.data_are_constant else mixing
        unknowns, count = space.unknowns, len(space.scale) - rows
        from_u = np.zeros((unknowns, rows))
        self.from_source = np.zeros((source_mixing.shape[1], unknowns, rows))
        self.from_data = np.zeros((data_mixing.shape[1], unknowns, count))
        for j, (tau, weight) in enumerate(zip(taus, weights, strict=True)):
            tau = complex(tau) if tau.imag else float(tau.real)
            matrix = space.factorise(tau).followed_by(self.triangle) * space.scale
            inside, outside = matrix[:, :rows], matrix[:, rows:]
            from_u += np.real(weight * shares[j] * inside)
            for i, beta in enumerate(source_mixing[j]):
                self.from_source[i] += np.real(weight * beta * tau * inside)
            for i, beta in enumerate(data_mixing[j]):
                self.from_data[i] += np.real(weight * beta * outside)
        self.matrix = from_u @ values

    def __call__(self, c: Float[Array, " n"], times: Float[Array, " s"]) -> Float[Array, " n"]:
        """The head after a step with the given stage times."""
        operators = self.space.operators
        y = self.matrix @ (self.triangle @ c)
        for matrix, data in zip(self.from_data, operators.data(times), strict=False):
            y += matrix @ data
        for matrix, time in zip(self.from_source, times, strict=False):
            y += matrix @ operators.source(time)
        return sla.solve_triangular(self.triangle, y, check_finite=False)
