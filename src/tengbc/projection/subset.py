"""The paper's projection: random parameter subsets, truncated singular values, few iterations."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from tengbc.defaults import PAPER
from tengbc.errors import NonFiniteError
from tengbc.lstsq import ConjugateGradients, spectrum
from tengbc.projection.collocation import Collocation
from tengbc.projection.fit import Fit

Array = np.ndarray
FACTORISATIONS = {"svd": spectrum, "gram": ConjugateGradients}
"""Singular values that are cut off, or the Gram matrix and damping, several times faster."""
SHORTEST = 1e-3
"""Columns shorter than this part of the longest are not lengthened to one."""


@dataclass(frozen=True)
class SubsetProjection:
    """Algorithm 1: a few undamped Gauss–Newton steps, each on a fresh random subset of θ.

    The paper leaves the cut-off open, and it decides: with LAPACK's own the first step blows up,
    because the weak directions are where the network is most nonlinear. So a step is kept only if
    the true residual falls; else the same factorisation is asked again with a higher cut-off.
    Columns are scaled to length one first, which lets more directions pass any cut-off.

    After a step the same factorisation takes up, in its strong directions, what the network's
    curvature has left: one product for each cut-off in `repeats`. The iterations end early once one
    took off less than `gain` of the residual, or came within `near` of what its subset can reach:
    what is left is then mostly what no change of θ can remove.

    `first_…` apply to the first stage of a multi-stage scheme, the larger subset to its first
    iteration.
    """

    iterations: int = PAPER.iterations
    subset: int = PAPER.subset
    first_iterations: int = PAPER.first_iterations
    first_subset: int = PAPER.first_subset
    cutoff: float = PAPER.cutoff
    method: str = "gram"
    ladder: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 16384.0, 65536.0)
    repeats: tuple[float, ...] = (1e-6,)
    gain: float = 0.3
    near: float = 1.2

    def fit(
        self,
        theta: Float[Array, " p"],
        collocation: Collocation,
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
    ) -> Fit:
        """Make u_θ the target inside and g(u_θ) zero on the boundary, at time t.

        `key` (seed, step, stage) names the random subsets: no generator state is carried.
        """
        state = _Iterate(theta, collocation.residual(theta, target, t))
        start = state.size
        rank, condition, accepted, rejected = 0, 1.0, 0, 0
        for iteration in range(self.first_iterations if first else self.iterations):
            count = self.first_subset if first and iteration == 0 else self.subset
            active = draw_subset(len(theta), count, (*key, iteration))
            columns = collocation.columns(state.theta, t, active)
            lengths = _lengths(columns)
            columns /= lengths[:, None]
            factored = FACTORISATIONS[self.method](columns, state.residual)

            def lower(state: _Iterate, x: Array, active=active, lengths=lengths) -> _Iterate | None:
                """The state after a step, None unless the true residual falls."""
                trial = state.theta.copy()
                trial[active] += x / lengths
                try:
                    found = _Iterate(trial, collocation.residual(trial, target, t))
                except NonFiniteError:  # the step went too far; at θ itself all was finite
                    return None
                return found if found.size < state.size else None

            before = state.size
            for factor in self.ladder:
                step = factored.solve(self.cutoff * factor)
                found = lower(state, step.x)
                if found is not None:
                    break
            else:
                rejected += 1
                continue
            state, rank, condition, accepted = found, step.rank, step.condition, accepted + 1
            for cutoff in self.repeats:
                again = factored.again(state.residual, max(cutoff, self.cutoff))
                state = lower(state, again) or state
            if state.size > (1 - self.gain) * before or state.size < self.near * step.residual:
                break
        whole = collocation.norm(target)
        return Fit(state.theta, state.size, start, whole, rank, condition, accepted, rejected)


@dataclass(frozen=True)
class _Iterate:
    """θ and its residual."""

    theta: Float[Array, " p"]
    residual: Float[Array, " r"]

    @cached_property
    def size(self) -> float:
        return float(np.linalg.norm(self.residual))


def _lengths(columns: Float[Array, "k r"]) -> Float[Array, " k"]:
    """The columns' norms, none so small beside the largest that its parameter would run away."""
    lengths = np.linalg.norm(columns, axis=1)
    largest = lengths.max(initial=0.0)
    return np.maximum(lengths, SHORTEST * largest) if largest > 0 else np.ones(len(lengths))


def draw_subset(total: int, count: int, key: tuple[int, ...]) -> Array:
    """`count` of `total` parameters, in order, drawn from the key alone."""
    if count >= total:
        return np.arange(total)
    return np.sort(np.random.default_rng(key).choice(total, count, replace=False))
