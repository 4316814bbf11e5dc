"""Backward differentiation: one implicit fit per step, always with the same factorisation.

    Σⱼ aⱼ uₙ₊₁₋ⱼ = Δt L(uₙ₊₁),   so   (1 − τ L̄) uₙ₊₁ = −Σ_{j≥1} (aⱼ/a₀) uₙ₊₁₋ⱼ + τ e,   τ = Δt/a₀.

The remainder e (and d on the boundary) is what the matrix L̄ leaves out of L: sources, nonlinear
terms, coefficients that change in time. `bdf` iterates on it; `imex` takes it once, at the state
that the polynomial through the last k states predicts, which costs nothing and keeps the order: the
stiff linear part stays implicit, all else is explicit. The first k − 1 steps are Radau IIA's of
order 5.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, UsageError
from tengbc.projection import Fit
from tengbc.projection.fit import MOST_PASSES, FixedPoint
from tengbc.schemes.base import AbstractScheme, Key, Step
from tengbc.schemes.radau import RadauIIA
from tengbc.spaces.interface import AbstractLinearisedSpace, AbstractSpace, State

Array = np.ndarray
START = RadauIIA(3)


def bdf_weights(order: int) -> Float[Array, " {order}+1"]:
    """aⱼ of Σ_{i=1}^{k} ∇ⁱ/i, the derivative at the newest of k + 1 states; newest first."""
    weights = np.zeros(order + 1)
    for i in range(1, order + 1):
        for j in range(i + 1):
            weights[j] += (-1) ** j * comb(i, j) / i
    return weights


def extrapolation_weights(order: int) -> Float[Array, " k"]:
    """γⱼ with Σ γⱼ uₙ₋ⱼ on the polynomial through the last k states, at the next; newest first."""
    return np.array([(-1.0) ** j * comb(order, j + 1) for j in range(order)])


@dataclass(frozen=True)
class BackwardDifferences(AbstractScheme):
    """BDF of order 1 to 5 on a linear space; with `imex`, what is not linear is explicit."""

    order: int
    imex: bool = False
    explicit = False
    one_step = False

    def __post_init__(self):
        if not 1 <= self.order <= 5:
            raise UsageError(
                f"Backward differentiation is of order 1 to 5, not {self.order}: above, it is "
                f"unstable for every equation."
            )

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return f"{'imex' if self.imex else 'bdf'}{self.order}"

    @cached_property
    def _weights(self) -> Float[Array, " {self.order}+1"]:
        return bdf_weights(self.order)

    @cached_property
    def _prediction(self) -> Float[Array, " k"]:
        return extrapolation_weights(self.order)

    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        assert isinstance(space, AbstractLinearisedSpace), "an implicit scheme needs matrices"
        start = START.prepare(space, dt)
        weights = self._weights
        tau = dt / weights[0]

        def step(state: State, t: float, key: Key = ()) -> tuple[State, list[Fit]]:
            """The history holds the heads of the steps before."""
            heads, then = (space.head(state.theta), *state.history), t + dt
            if len(heads) < self.order:
                started, fits = start(State(state.theta), t, key)
                return State(started.theta, heads), fits
            past = np.stack(heads)
            known = space.rows(-(weights[1:] / weights[0]) @ past)
            c = self._prediction @ past
            if self.imex or space.linear:
                inside, outside = space.remainder(c, then)
                new = space.solve(tau, known + tau * inside, outside)
            else:
                new = self._iterated(space, known, c, tau, then)
            new_state = State(space.theta(new), heads[: self.order - 1])
            return new_state, [space.boundary_fit(new, then)]

        return step

    def _iterated(self, space: AbstractLinearisedSpace, known, c, tau: float, then: float):
        """Passes until the new state settles; around a new matrix if it does not."""
        predicted = c
        for fresh in (False, True):
            if fresh:
                space.linearise(then, predicted)
            c, monitor = predicted, FixedPoint()
            for _ in range(MOST_PASSES):
                inside, outside = space.remainder(c, then)
                new = space.solve(tau, known + tau * inside, outside)
                change, size = (space.rows_norm(v) for v in (new - c, new))
                c = new
                if not np.isfinite(size) or monitor.hopeless:
                    break
                if monitor.reached(float(change), float(size), space.noise(c)):
                    return c
        raise DivergedError(
            f"the implicit step to t = {then:.6g} does not converge; take a smaller dt."
        )
