"""The paper's projection: random parameter subsets, truncated singular values, few iterations."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.errors import NonFiniteError
from tengbc.lstsq import spectrum
from tengbc.projection.collocation import Collocation
from tengbc.projection.stats import Fit

Array = np.ndarray


@dataclass(frozen=True)
class SubsetProjection:
    """Algorithm 1: a few undamped Gauss–Newton steps, each on a fresh random subset of θ.

    The paper leaves the cut-off open, and it decides: with LAPACK's own the first step blows up,
    because the weak directions are where the network is most nonlinear. So a step is kept only if
    the true residual falls; else the same factorisation is asked again with a higher cut-off.

    `first_…` apply to the first stage of a multi-stage scheme, the larger subset to its first
    iteration.
    """

    iterations: int = 5
    subset: int = 512
    first_iterations: int = 7
    first_subset: int = 768
    cutoff: float = 1e-7
    method: str = "gram"
    ladder: tuple[float, ...] = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 16384.0)

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
        residual = collocation.residual(theta, target, t)
        size = start = float(np.linalg.norm(residual))
        rank, condition, accepted, rejected = 0, 1.0, 0, 0
        for iteration in range(self.first_iterations if first else self.iterations):
            count = self.first_subset if first and iteration == 0 else self.subset
            active = draw_subset(len(theta), count, (*key, iteration))
            columns = collocation.columns(theta, t, active)
            factored = spectrum(columns, residual, self.method)
            for factor in self.ladder:
                step = factored.solve(self.cutoff * factor)
                trial = theta.copy()
                trial[active] += step.x
                try:
                    trial_residual = collocation.residual(trial, target, t)
                except NonFiniteError:  # the step went too far; at θ itself all was finite
                    continue
                trial_size = float(np.linalg.norm(trial_residual))
                if trial_size < size:
                    theta, residual, size = trial, trial_residual, trial_size
                    rank, condition = step.rank, step.condition
                    accepted += 1
                    break
            else:
                rejected += 1
        whole = collocation.norm(target)
        return Fit(theta, size, start, whole, rank, condition, accepted, rejected)


def draw_subset(total: int, count: int, key: tuple[int, ...]) -> Array:
    """`count` of `total` parameters, in order, drawn from the key alone."""
    if count >= total:
        return np.arange(total)
    return np.sort(np.random.default_rng(key).choice(total, count, replace=False))
