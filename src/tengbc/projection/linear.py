"""Frozen features: the equation and the conditions as matrices, factorised once.

With the body frozen a function is u = Φc. Around a time and a state the equation reads
L(u) = L̄c + e and a condition g(u) = B̄c − d, with matrices L̄, B̄ and a rest e, d. Where the laws are
affine and their matrices do not change, the rest is what sources and boundary values give and does
not depend on u; then every stage of every step is one product with a factorisation kept from the
first. Otherwise the rest is evaluated as it is, and schemes iterate on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float, Inexact

from tengbc.errors import DivergedError, UsageError
from tengbc.fourier import needed_derivatives
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks import Network
from tengbc.problem import Problem
from tengbc.projection.collocation import Collocation, check_finite
from tengbc.projection.jets import Jets
from tengbc.projection.laws import Laws
from tengbc.projection.rest import MOST_PASSES, Rest
from tengbc.projection.stats import Fit

Array = np.ndarray
Kept = TypeVar("Kept")
DAMPING = 1e-13
"""Relative damping of the least squares: some hundred rounding errors."""
BOUNDARY_WEIGHT = 10.0
"""Boundary rows count this much more than their measure says. With 1 some marches are unstable: on
an L-shaped domain a mode near the corners was amplified by −4 in each step."""
MOST_FACTORISATIONS, MOST_KEPT = 8, 2
"""Those of two lengths of a step; steps that grow do not come back to an earlier one."""


class LinearSpace:
    """Functions with frozen features, on the rows of a problem.

    `linearise` sets the matrices; `rest` evaluates what they leave out; `solve` fits implicit rows.
    `repeated_steps` are lengths that many steps of a march have, for which more may be prepared.
    """

    def __init__(
        self,
        problem: Problem,
        network: Network,
        interior: Points,
        boundary: Sequence[BoundaryPoints],
        damping: float = DAMPING,
        repeated_steps: Collection[float] = (),
    ):
        self.collocation = Collocation(problem, network, interior, boundary)
        self.damping, self.repeated_steps = damping, repeated_steps
        self.body = self.collocation.parameters.start[: self._head.start].copy()
        self.laws = Laws(self.collocation)
        self.jets = None if self.laws.rates_are_matrix else _jets(self.collocation)
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
        theta, t = self.theta(c), float(t)
        values, rates = self._interior_matrices(theta, t)
        blocks = self.laws.boundary_matrices(theta, t)
        # Before anything is set: whoever goes on after an error finds the matrices as they were.
        check_finite("The equation's linear part", rates, self.collocation.interior.x, t)
        self.linearised_at, self.linearised_around = t, c.copy()
        self.phi = values.reshape(-1, self.unknowns)
        self.rate_matrix = rates.reshape(-1, self.unknowns)
        blocks = [block.reshape(-1, self.unknowns) for block in blocks]
        self._segment_ends = np.cumsum([len(block) for block in blocks])[:-1]
        self.boundary_matrix = np.concatenate(blocks or [np.zeros((0, self.unknowns))])
        self.scale = self._row_scale(blocks)
        self._factorisations: dict[complex, RegularisedQR] = {}
        self._kept: dict[Hashable, Any] = {}

    def _interior_matrices(self, theta: Float[Array, " p"], t: float) -> tuple[Array, Array]:
        """Φ and L̄ at time t and state θ."""
        if self.jets is not None:
            return self.jets.values(), self.jets.matrix(self.head(theta), t)
        return self.laws.interior_matrices(theta, t)

    def keep(self, name: Hashable, build: Callable[[], Kept]) -> Kept:
        """What `build` makes of the matrices, made once while they stay."""
        return _kept(self._kept, name, build, MOST_KEPT)

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
            length = collocation.problem.domain.scale
            weight = np.repeat(np.sqrt(points.w * length), len(block) // len(points))
            parts.append(BOUNDARY_WEIGHT * weight * (unit / (_size(block) or unit)))
        return np.concatenate(parts)

    def factorisation(self, tau: complex) -> RegularisedQR:
        """The factorised rows (Φ − τL̄; B̄), kept while the matrices stay."""
        build = lambda: self.factorise(tau, explicit=len(self.repeated_steps) > 0)
        return _kept(self._factorisations, tau, build, MOST_FACTORISATIONS)

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
        if not self.laws.rates_are_matrix:
            rates = self.collocation.rates(self.theta(c), t)
            return rates.ravel() - self.rate_matrix @ c
        return self.laws.source(t)

    def boundary_rest(self, c: Float[Array, " n"], t: float) -> Float[Array, " b"]:
        """d = B̄c − g(u)."""
        if self.laws.conditions_are_matrix:
            return self.laws.data_at(t)
        found = self.collocation.boundary_residual(self.theta(c), t)
        residual = np.concatenate([g.ravel() for g in found]) if found else np.zeros(0)
        return self.boundary_matrix @ c - residual

    @property
    def rest_depends_on_u(self) -> bool:
        """Whether schemes have to iterate."""
        return not (self.laws.rates_are_matrix and self.laws.conditions_are_matrix)

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
            if self.laws.conditions_are_matrix or rested:
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


def _jets(collocation: Collocation) -> Jets | None:
    """What makes an equation of second order cheap; None for others."""
    problem = collocation.problem
    try:
        needed_derivatives(problem.equation, problem.domain.dim, problem.shape)
    except UsageError:
        return None
    return Jets(problem, collocation.parameters, collocation.interior.x)


def _kept(known: dict[Any, Kept], name: Hashable, build: Callable[[], Kept], most: int) -> Kept:
    """What is known by that name, or is built; what was used longest ago makes room for it."""
    if name not in known:
        while len(known) >= most:
            del known[next(iter(known))]
        known[name] = build()
    known[name] = known.pop(name)
    return known[name]


def _size(matrix: Array) -> float:
    """Root mean square of the entries."""
    return float(np.sqrt(np.mean(np.square(matrix)))) if matrix.size else 1.0
