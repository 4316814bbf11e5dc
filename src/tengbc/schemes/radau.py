"""Radau IIA collocation: L-stable, of order 2s − 1, for stiff and wave-like problems alike.

The stages U solve U = u + Δt·A·F(U), F(U) = L̄U + e. With A = TΛT⁻¹ and W = T⁻¹U they fall apart
into one least-squares problem each,

    (1 − Δtλⱼ L̄) Wⱼ = (T⁻¹1)ⱼ u + Δtλⱼ (T⁻¹e)ⱼ,    B̄ Wⱼ = (T⁻¹d)ⱼ,

complex where λⱼ is, with factorisations that are made once for a fixed Δt. Only values of u enter,
never L̄u of an old state: what least squares leave undetermined in one step is not carried on.
A remainder (e, d) that depends on U (nonlinear terms, coefficients that change in time) is iterated
on.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre
from numpy.typing import NDArray

from tengbc.errors import DivergedError
from tengbc.projection import Fit
from tengbc.projection.fit import MOST_PASSES, FixedPoint
from tengbc.schemes.base import AbstractScheme, Key, Step
from tengbc.spaces.interface import AbstractLinearisedSpace, AbstractSpace, State

Array = np.ndarray
Complex128 = NDArray[np.complex128]


def radau_nodes(stages: int) -> Float[Array, " s"]:
    """Zeros of P_s − P_{s−1} moved to (0, 1]; the last is 1."""
    difference = np.zeros(stages + 1)
    difference[stages], difference[stages - 1] = 1.0, -1.0
    nodes = np.sort(legendre.legroots(difference).real)
    slope = legendre.legder(difference)
    nodes -= legendre.legval(nodes, difference) / legendre.legval(nodes, slope)  # to the last digit
    nodes = (nodes + 1) / 2
    nodes[-1] = 1.0
    return nodes


def collocation_matrix(nodes: Float[Array, " s"]) -> Float[Array, "s s"]:
    """aᵢⱼ = ∫₀^{cᵢ} ℓⱼ, from the powers 1, x, x², …"""
    powers = np.arange(len(nodes))
    integrals = nodes[:, None] ** (powers + 1) / (powers + 1)
    return np.linalg.solve(np.vander(nodes, increasing=True).T, integrals.T).T


@dataclass(frozen=True)
class RadauIIA(AbstractScheme):
    """Radau IIA with s stages."""

    stages: int = 5
    estimates: bool = False
    """Whether a step tells its error and keeps its stages, as steps of adapted length need."""
    accuracy: float = 1e-13
    """To which part of the solution stages are iterated on, where laws are not linear."""
    keeps_stages: bool = False
    """Whether a step keeps its stages though nobody asks for its error."""
    explicit = False
    one_step = True

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return f"radau{2 * self.stages - 1}"

    @property
    def order(self) -> int:
        """2s − 1."""
        return 2 * self.stages - 1

    @cached_property
    def nodes(self) -> Float[Array, " s"]:
        """The stage times, in units of the step."""
        return radau_nodes(self.stages)

    @cached_property
    def _diagonal(self) -> tuple[Complex128, Complex128, Complex128]:
        found = np.linalg.eig(collocation_matrix(self.nodes))
        eigenvalues = np.asarray(found.eigenvalues, dtype=np.complex128)
        vectors = np.asarray(found.eigenvectors, dtype=np.complex128)
        # Conjugate pairs are solved once: sort so that the half with Im ≥ 0 comes first.
        order = np.lexsort((eigenvalues.real, -eigenvalues.imag.round(12)))
        eigenvalues, vectors = eigenvalues[order], vectors[:, order]
        return eigenvalues, vectors, np.linalg.inv(vectors).astype(np.complex128)

    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        assert isinstance(space, AbstractLinearisedSpace), "an implicit scheme needs matrices"
        if many and space.linear and not (self.estimates or self.keeps_stages):
            propagator = self._propagator(space, dt)
            heads = lambda c, t: propagator(c, t + self.nodes * dt)[None]
        elif space.linear:
            heads = lambda c, t: self._pass(space, c, np.tile(c, (self.stages, 1)), t, dt)
        else:
            heads = lambda c, t, guess: self._iterated(space, c, t, dt, guess)

        def step(state: State, t: float, key: Key = ()) -> tuple[State, list[Fit]]:
            c, guess = space.head(state.theta), ()
            if not space.linear:
                guess = (self._foreseen(state.history, c, t, dt),)
            found = heads(c, t, *guess)
            times = t + self.nodes * dt
            new, fit = State(space.theta(found[-1])), space.boundary_fit(found[-1], t + dt)
            if not space.linear:
                new = replace(new, history=(times, found))
            if self.estimates or self.keeps_stages:
                between = zip(times[:-1].tolist(), map(space.theta, found[:-1]), strict=True)
                new = replace(new, stages=tuple(between))
            if self.estimates:
                fit = replace(fit, step_error=self._error(space, state.theta, found, t, dt))
            return new, [fit]

        return step

    def _foreseen(self, before: tuple[Array, ...], c: Float[Array, " n"], t: float, dt: float):
        """Heads to begin with: those of the step before, their polynomial continued.

        A longer step would lead too far away from it, and the first has none before: c itself.
        """
        still = np.tile(c, (self.stages, 1))
        if not before or before[1].shape != still.shape:
            return still
        times, heads = before
        length = (times[-1] - times[0]) / (1.0 - self.nodes[0]) if self.stages > 1 else 0.0
        if dt > 1.01 * length:
            return still
        where, nodes = self.nodes * dt / length, (times - t) / length
        return np.vander(where, self.stages) @ np.linalg.solve(np.vander(nodes), heads)

    @cached_property
    def _embedded(self) -> tuple[float, Float[Array, " s"]]:
        """γ and weights d of an embedded formula of order s with a node at the beginning.

        Its weight γ there is the real eigenvalue of A, so that what it differs by,
        γΔt·f(t, u) + Σ dᵢ(Uᵢ − u), passes through a factor that the stages have already.
        """
        matrix, powers = collocation_matrix(self.nodes), np.arange(self.stages)
        assert self.stages % 2, "with an even number of stages A has no real eigenvalue"
        gamma = float(self._diagonal[0].real[np.abs(self._diagonal[0].imag) < 1e-12][0])
        moments = 1 / (powers + 1) - gamma * (powers == 0)
        weights = np.linalg.solve(np.vander(self.nodes, increasing=True).T, moments)
        return gamma, np.linalg.solve(matrix.T, weights - matrix[-1])

    def _error(self, space: AbstractLinearisedSpace, theta, heads, t: float, dt: float) -> float:
        """The step's error as a part of the solution, by the embedded formula."""
        gamma, weights = self._embedded
        moved = space.rows(weights @ (heads - space.head(theta)))
        right = gamma * dt * space.rates(theta, t).ravel() + moved
        data = np.zeros(space.remainder(heads[-1], t + dt)[1].shape)
        found = space.rows_norm(space.solve(gamma * dt, right, data))
        size = max(space.rows_norm(c) for c in (space.head(theta), heads[-1]))
        return float(found / size) if size > 0 else 0.0

    def _propagator(self, space: AbstractLinearisedSpace, dt: float):
        """The step as a matrix."""
        eigenvalues, vectors, inverse = self._diagonal
        used = eigenvalues.imag > -1e-12
        # A conjugate pair counts as twice the real part of one of the two.
        pairs = np.where(eigenvalues.imag > 1e-12, 2.0, 1.0)
        real = np.where(eigenvalues.imag > 1e-12, eigenvalues, eigenvalues.real)
        return space.propagator(
            (dt * real)[used],
            inverse.sum(axis=1)[used],
            inverse[used],
            (pairs * vectors[-1])[used],
        )

    def _iterated(self, space: AbstractLinearisedSpace, c, t: float, dt: float, heads):
        """Passes until the stages settle; around a new state if they do not.

        Matrices are kept from step to step as long as they serve: setting them anew costs as much
        as some ten passes.
        """
        for fresh in (False, True, True):
            if fresh:
                space.linearise(t + dt / 2, heads[-1])
            monitor = FixedPoint(self.accuracy, max(self.accuracy, 1e-10))
            for _ in range(MOST_PASSES):
                new = self._pass(space, c, heads, t, dt)
                change, size = (space.rows_norm(v) for v in (new - heads, new))
                if not np.isfinite(size):
                    break
                heads = new
                if monitor.reached(float(change), float(size), space.noise(heads)):
                    return np.asarray(heads)
                if monitor.hopeless:
                    break
            heads = np.tile(c, (self.stages, 1)) if not fresh or monitor.hopeless else heads
        raise DivergedError(
            f"the stages of the step to t = {t + dt:.6g} do not converge; take a smaller dt."
        )

    def _pass(self, space: AbstractLinearisedSpace, c, heads, t: float, dt: float):
        """New heads of the stages, with the remainder that the old ones leave."""
        inside, outside = space.remainders(heads, t + self.nodes * dt)
        return self._stages(space, space.rows(c), inside, outside, dt)

    def _stages(
        self, space: AbstractLinearisedSpace, u, inside, outside, dt: float
    ) -> Float[Array, "s n"]:
        """Heads of all stages for a given remainder."""
        eigenvalues, vectors, inverse = self._diagonal
        ones = inverse.sum(axis=1)
        inside, outside = inverse @ inside, inverse @ outside
        heads: Float[Array, "s n"] | float = 0.0
        for j, eigenvalue in enumerate(eigenvalues):
            if eigenvalue.imag < -1e-12:
                continue
            tau = dt * eigenvalue
            right, data = ones[j] * u + tau * inside[j], outside[j]
            if eigenvalue.imag < 1e-12:  # a real stage needs no complex arithmetic
                solved = space.solve(float(tau.real), right.real, data.real)
                heads = heads + np.outer(vectors[:, j].real, solved)
            else:  # a pair: twice the real part of one of the two
                solved = space.solve(complex(tau), right, data)
                heads = heads + 2 * np.real(np.outer(vectors[:, j], solved))
        return np.asarray(heads)
