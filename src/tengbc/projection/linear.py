"""Frozen features: the equation and the conditions as matrices, factorised once.

With the body frozen a function is u = Φc. Around a time and a state the equation reads
L(u) = L̄c + e and a condition g(u) = B̄c − d, with matrices L̄, B̄ and a rest e, d. Where the laws are
affine and their matrices do not change, the rest is what sources and boundary values give and does
not depend on u; then every stage of every step is one product with a factorisation kept from the
first. Otherwise the rest is evaluated as it is, and schemes iterate on it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Inexact

from tengbc.errors import DivergedError, ProblemError, UsageError
from tengbc.fourier import needed_derivatives
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks import Network
from tengbc.problem import Problem
from tengbc.projection.collocation import Collocation, check_finite
from tengbc.projection.jets import Jets
from tengbc.projection.rest import MOST_PASSES, Rest
from tengbc.projection.stats import Fit
from tengbc.projection.structure import structure

Array = np.ndarray
Kept = TypeVar("Kept")
DAMPING = 1e-13
"""Relative damping of the least squares: some hundred rounding errors."""
BOUNDARY_WEIGHT = 10.0
"""Boundary rows count this much more than their measure says. With 1 some marches are unstable: on
an L-shaped domain a mode near the corners was amplified by −4 in each step."""


class LinearSpace:
    """Functions with frozen features, on the rows of a problem.

    `linearise` sets the matrices; `rest` evaluates what they leave out; `solve` fits implicit rows.
    `repeated_step` is the Δt of a march of many equal steps, for which more may be prepared.
    """

    def __init__(
        self,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
        damping: float = DAMPING,
        repeated_step: float | None = None,
    ):
        self.collocation = Collocation(problem, network, interior, boundary)
        self.damping, self.repeated_step = damping, repeated_step
        self.body = self.collocation.parameters.start[: self._head.start].copy()
        self._compile()
        self._find_structure()
        self.phi = np.zeros((0, 0))
        self.jets = None if self.rates_are_matrix else _jets(self.collocation)
        self.linearise(0.0, np.zeros(self.unknowns))

    @property
    def _head(self) -> slice:
        return self.collocation.parameters.head

    @property
    def unknowns(self) -> int:
        """The number of head weights c."""
        return len(self.collocation.parameters) - self._head.start

    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        """θ with the frozen body and the head c."""
        return np.concatenate([self.body, c])

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        """The head c of θ."""
        return theta[self._head]

    # The matrices.

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        """Set L̄ and B̄ to the derivatives of the laws at time t and state c."""
        collocation = self.collocation
        theta, t = self.theta(c), float(t)
        with jax.enable_x64(True):
            values, rates = self._interior_matrices(theta, t)
            blocks = [
                np.asarray(function(theta, points.x, points.normal, t))
                for function, points in zip(
                    self._boundary_matrices, collocation.boundary, strict=True
                )
            ]
        # Before anything is set: whoever goes on after an error finds the matrices as they were.
        check_finite("The equation's linear part", rates, collocation.interior.x, t)
        for points, block in zip(collocation.boundary, blocks, strict=True):
            check_finite(
                f"The linear part of the condition on {points.segment}", block, points.x, t
            )
        self.linearised_at, self.linearised_around = t, c.copy()
        self.phi = values.reshape(-1, self.unknowns)
        self.rate_matrix = rates.reshape(-1, self.unknowns)
        blocks = [block.reshape(-1, self.unknowns) for block in blocks]
        for points, block, affine in zip(collocation.boundary, blocks, self._affine, strict=True):
            if affine and not block.any():
                raise ProblemError(
                    f"The condition on {points.segment} says nothing about u at t = {t:.6g}, where "
                    f"neither u nor ∂ₙu enters it; give one that does."
                )
        self._segment_ends = np.cumsum([len(block) for block in blocks])[:-1]
        self.boundary_matrix = np.concatenate(blocks or [np.zeros((0, self.unknowns))])
        self.scale = self._row_scale(blocks)
        self._factorisations: dict[complex, RegularisedQR] = {}
        self._kept: dict[Hashable, Any] = {}

    def _interior_matrices(self, theta: Float[Array, " p"], t: float) -> tuple[Array, Array]:
        """Φ and L̄ at time t and state θ; Φ depends on neither."""
        if self.jets is not None and len(self.phi):
            return self.phi, self.jets.matrix(self.head(theta), t)
        found = self._matrices(theta, self.collocation.interior.x, t)
        return np.asarray(found[0]), np.asarray(found[1])

    def keep(self, name: Hashable, build: Callable[[], Kept]) -> Kept:
        """What `build` makes of the matrices, made once while they stay."""
        if name not in self._kept:
            self._kept[name] = build()
        return self._kept[name]

    def memory(self) -> dict[str, Array]:
        """Where the matrices were taken: with that they can be made again, bit for bit."""
        return {"time": np.array([self.linearised_at]), "head": self.linearised_around}

    def remember(self, memory: dict[str, Array]) -> None:
        """Take the matrices where they were taken then."""
        t, c = float(memory["time"][0]), memory["head"]
        if t != self.linearised_at or not np.array_equal(c, self.linearised_around):
            self.linearise(t, c)

    def _row_scale(self, blocks: list[Array]) -> Float[Array, " r"]:
        """√w inside; on the boundary 10·√(ρw), in units of the interior rows.

        Lengths are measured by the domain's radius ρ and each condition by the size of its rows, so
        the balance does not depend on the units a problem is stated in.
        """
        collocation = self.collocation
        inside = np.repeat(np.sqrt(collocation.interior.w), collocation.components)
        unit, parts = _size(self.phi), [inside]
        for points, block in zip(collocation.boundary, blocks, strict=True):
            length = collocation.problem.domain.radius
            weight = np.repeat(np.sqrt(points.w * length), len(block) // len(points))
            parts.append(BOUNDARY_WEIGHT * weight * (unit / (_size(block) or unit)))
        return np.concatenate(parts)

    def factorisation(self, tau: complex) -> RegularisedQR:
        """The factorised rows (Φ − τL̄; B̄), kept while the matrices stay."""
        if tau not in self._factorisations:
            often = self.repeated_step is not None
            self._factorisations[tau] = self.factorise(tau, explicit=often)
        return self._factorisations[tau]

    def factorise(self, tau: complex, explicit: bool = False) -> RegularisedQR:
        """The rows (Φ − τL̄; B̄), factorised."""
        inside = self.phi - tau * self.rate_matrix if tau else self.phi
        matrix = np.concatenate([inside, self.boundary_matrix.astype(inside.dtype)])
        matrix *= self.scale[:, None]
        return RegularisedQR(matrix, self.damping, explicit)

    def solve(
        self, tau: complex, inside: Inexact[Array, " i"], outside: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        """c with (Φ − τL̄)c = inside and B̄c = outside, in the least-squares sense."""
        return self.factorisation(tau).solve(self.scale * np.concatenate([inside, outside]))

    # The rest.

    def rest(
        self, c: Float[Array, " n"], t: float
    ) -> tuple[Float[Array, " i"], Float[Array, " b"]]:
        """(e, d): L(u) = L̄c + e inside and g(u) = B̄c − d on the boundary, at time t."""
        return self.rate_rest(c, t), self.boundary_rest(c, t)

    def rests(
        self, heads: Float[Array, "s n"], times: Float[Array, " s"]
    ) -> tuple[Float[Array, "s i"], Float[Array, "s b"]]:
        """(e, d) of several states, each at its time."""
        both = list(zip(heads, times, strict=True))
        outside = np.stack([self.boundary_rest(c, t) for c, t in both])
        if self.jets is None:
            return np.stack([self.rate_rest(c, t) for c, t in both]), outside
        rates = self.jets.rates(heads, times)
        for found, t in zip(rates, times, strict=True):
            check_finite("The equation's right-hand side", found, self.collocation.interior.x, t)
        return rates.reshape(len(heads), -1) - heads @ self.rate_matrix.T, outside

    def rate_rest(self, c: Float[Array, " n"], t: float) -> Float[Array, " i"]:
        """e = L(u) − L̄c."""
        if self.jets is not None:
            return self.rests(c[None], np.array([t]))[0][0]
        if not self.rates_are_matrix:
            rates = self.collocation.rates(self.theta(c), t)
            return rates.ravel() - self.rate_matrix @ c
        if self.source_is_constant:
            return self._constant_source
        return self._source(t)

    def boundary_rest(self, c: Float[Array, " n"], t: float) -> Float[Array, " b"]:
        """d = B̄c − g(u)."""
        if self.conditions_are_matrix:
            if self._last_data is not None and t == self._last_data[0][-1]:
                return self._last_data[1][-1]
            return self.data(np.array([t]))[0]
        found = self.collocation.boundary_residual(self.theta(c), t)
        residual = np.concatenate([g.ravel() for g in found]) if found else np.zeros(0)
        return self.boundary_matrix @ c - residual

    @property
    def rest_depends_on_u(self) -> bool:
        """Whether schemes have to iterate."""
        return not (self.rates_are_matrix and self.conditions_are_matrix)

    # What every scheme may ask.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        """u_θ at the interior points."""
        return (self.phi @ self.head(theta)).reshape(-1, self.collocation.components)

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        """L(u_θ) at the interior points."""
        c = self.head(theta)
        rates = self.rate_matrix @ c + self.rate_rest(c, t)
        return rates.reshape(-1, self.collocation.components)

    def boundary_residual(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "..."]]:
        """g(u_θ) on each boundary segment at time t."""
        c = self.head(theta)
        residual = self.boundary_matrix @ c - self.boundary_rest(c, t)
        # Without a boundary there is no segment; np.split would make an empty one.
        return np.split(residual, self._segment_ends) if self.collocation.boundary else []

    def project(
        self,
        theta: Float[Array, " p"],
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...] = (),
        first: bool = False,
    ) -> Fit:
        """The function nearest to the target that meets the conditions of time t."""
        c, inside = self.head(theta), target.ravel()
        start = self._misfit(c, inside, self.boundary_rest(c, t))
        rest = Rest()
        for _ in range(MOST_PASSES):
            outside = self.boundary_rest(c, t)
            new = self.solve(0.0, inside, outside)
            change, size = (np.linalg.norm(self.phi @ v) for v in (new - c, new))
            c = new
            rested = rest.reached(float(change), float(size), self.noise(c))
            if self.conditions_are_matrix or rested:
                return self.fit(c, inside, outside, 0.0, start)
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

    def fit(self, c, inside, outside, tau: float, start: float) -> Fit:
        """What a solve reports: the misfit of its rows, rank and condition."""
        residual = self._misfit(c, inside, outside, tau)
        whole = float(np.linalg.norm(self.scale * np.concatenate([inside, outside])))
        condition = self.factorisation(tau).condition
        return Fit(self.theta(c), residual, start, whole, self.unknowns, condition, 1)

    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        """The report of an implicit step: what the new state leaves of its conditions at time t."""
        rows, asked = self.collocation.interior_rows, self.boundary_rest(c, t)
        missed = asked - self.boundary_matrix @ c
        residual = float(np.linalg.norm(self.scale[rows:] * missed))
        # A field that starts from zero is small at first: what its conditions ask for is not.
        whole = float(np.linalg.norm(self.scale * np.concatenate([self.phi @ c, asked])))
        condition = self.factorisation(0.0).condition
        return Fit(self.theta(c), residual, residual, whole, self.unknowns, condition, 1)

    def noise(self, c: Float[Array, "..."]) -> float:
        """What round-off may change of ‖Φc‖ from pass to pass: functions that are not smooth have
        large heads c, whose contributions nearly cancel. Measured: up to 10 ε‖Φ‖‖c‖.
        """
        epsilon = float(np.finfo(float).eps)
        return 32 * epsilon * float(np.linalg.norm(self.phi) * np.linalg.norm(c))

    def _misfit(self, c, inside, outside, tau: float = 0.0) -> float:
        matrix = self.phi @ c - (tau * (self.rate_matrix @ c) if tau else 0.0)
        rows = np.concatenate([inside - matrix, outside - self.boundary_matrix @ c])
        return float(np.linalg.norm(self.scale * rows))

    # Compiled once.

    def _compile(self) -> None:
        collocation = self.collocation
        problem, network = collocation.problem, collocation.parameters.network
        shape, m = problem.shape, collocation.components
        split = self._head.start

        def linear_rows(law):
            """Derivatives of law(network, …) by the head, at one point."""

            def rows(theta, *arguments):
                def of_head(c):
                    whole = network(jnp.concatenate([theta[:split], c]))
                    return jnp.atleast_1d(law(whole, *arguments))

                return jax.jacrev(of_head)(theta[split:])

            return rows

        def value_and_rate(u, x, t):
            return jnp.concatenate(
                [jnp.reshape(u(x), m), jnp.reshape(problem.equation.rhs(u, x, t), m)]
            )

        def matrices(theta, x, t):
            both = jax.lax.map(
                lambda point: linear_rows(value_and_rate)(theta, point, t), x, batch_size=256
            )
            return both[:, :m], both[:, m:]

        def zero(x):
            return jnp.zeros(shape)

        self._matrices = jax.jit(matrices)
        self._source_at = jax.jit(
            jax.vmap(
                lambda x, t: jnp.reshape(problem.equation.rhs(zero, x, t), m), in_axes=(0, None)
            )
        )
        laws = [problem.conditions[points.segment].residual for points in collocation.boundary]
        self._boundary_matrices = [
            jax.jit(jax.vmap(linear_rows(law), in_axes=(None, 0, 0, None))) for law in laws
        ]

        def data_at(segments, t):
            """−g(0) on all segments at one time."""

            def at_zero(law, x, normal):
                return -jnp.atleast_1d(law(zero, x, normal, t))

            return [
                jax.vmap(functools.partial(at_zero, law))(x, normal).ravel()
                for law, (x, normal) in zip(laws, segments, strict=True)
            ]

        self._data_at = jax.jit(jax.vmap(data_at, in_axes=(None, 0)))

    def _find_structure(self) -> None:
        problem, boundary = self.collocation.problem, self.collocation.boundary
        equation = structure(problem.equation.rhs, problem.shape, self.collocation.interior.x[0])
        conditions = [
            structure(
                problem.conditions[points.segment].residual,
                problem.shape,
                points.x[0],
                points.normal[0],
            )
            for points in boundary
        ]
        self.rates_are_matrix = equation.affine and equation.constant_matrix
        self._affine = [law.affine for law in conditions]
        self.conditions_are_matrix = all(law.affine and law.constant_matrix for law in conditions)
        self.source_is_constant = equation.constant_offset
        self.data_are_constant = all(law.constant_offset for law in conditions)
        self._last_data: tuple[Array, Array] | None = None
        if self.rates_are_matrix and self.source_is_constant:
            self._constant_source = self._source(0.0)

    def _source(self, t: float) -> Float[Array, " i"]:
        with jax.enable_x64(True):
            source = np.asarray(self._source_at(self.collocation.interior.x, float(t)))
        check_finite("The equation's source", source, self.collocation.interior.x, t)
        return source.ravel()

    def data(self, times: Float[Array, " s"]) -> Float[Array, "s b"]:
        """d at several times, for conditions that are matrices: one call, since each has its price.

        The last answer is kept: those who watch a march ask for what its last stage asked for.
        """
        if not self.collocation.boundary:
            return np.zeros((len(times), 0))
        if self.data_are_constant:
            times = np.zeros(len(times))
        if self._last_data is None or not np.array_equal(self._last_data[0], times):
            segments = [(points.x, points.normal) for points in self.collocation.boundary]
            with jax.enable_x64(True):
                parts = [np.asarray(part) for part in self._data_at(segments, times)]
            for points, part in zip(self.collocation.boundary, parts, strict=True):
                if not np.isfinite(part).all():
                    worst = int(np.argmax(~np.isfinite(part).all(axis=1)))
                    check_finite(
                        f"The condition on {points.segment}",
                        part[worst].reshape(len(points), -1),
                        points.x,
                        float(times[worst]),
                    )
            self._last_data = (np.array(times), np.concatenate(parts, axis=1))
        return self._last_data[1]


def _jets(collocation: Collocation) -> Jets | None:
    """What makes an equation of second order cheap; None for others."""
    problem = collocation.problem
    try:
        needed_derivatives(problem.equation, problem.domain.dim, problem.shape)
    except UsageError:
        return None
    return Jets(problem, collocation.parameters, collocation.interior.x)


def _size(matrix: Array) -> float:
    """Root mean square of the entries."""
    return float(np.sqrt(np.mean(np.square(matrix)))) if matrix.size else 1.0
