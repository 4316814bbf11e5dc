"""The paper's projection: random parameter subsets, truncated singular values, few iterations."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.defaults import PAPER
from tengbc.errors import NonFiniteError
from tengbc.projection.fit import AnyCollocation, Fit

Array = np.ndarray


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
        collocation: AnyCollocation,
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
    ) -> Fit:
        """Make u_θ the target inside and g(u_θ) zero on the boundary, at time t.

        `key` (seed, step, stage) names the random subsets: no generator state is carried.
        """

        def iterate(theta: Float[Array, " p"]) -> _Iterate:
            residual = collocation.residual(theta, target, t)
            return _Iterate(theta, residual, collocation.size(residual))

        state = iterate(theta)
        start = state.size
        rank, condition, accepted, rejected = 0, 1.0, 0, 0
        for iteration in range(self.first_iterations if first else self.iterations):
            count = self.first_subset if first and iteration == 0 else self.subset
            active = draw_subset(len(theta), count, (*key, iteration))
            lengths, factored = collocation.linearised(
                state.theta, t, active, state.residual, self.method
            )

            def lower(state: _Iterate, x: Array, active=active, lengths=lengths) -> _Iterate | None:
                """The state after a step, None unless the true residual falls."""
                trial = state.theta.copy()
                trial[active] += x / lengths
                try:
                    found = iterate(trial)
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
    """θ, its residual, and the norm of that."""

    theta: Float[Array, " p"]
    residual: Float[Array, " r"]
    size: float


def draw_subset(total: int, count: int, key: tuple[int, ...]) -> Array:
    """`count` of `total` parameters, in order, drawn from the key alone."""
    if count >= total:
        return np.arange(total)
    return np.sort(np.random.default_rng(key).choice(total, count, replace=False))
