"""What a fit reports, when an iteration of fits may stop, and what every projection can do."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from tengbc.projection.blocked import BlockedCollocation
from tengbc.projection.collocation import Collocation

AnyCollocation = Collocation | BlockedCollocation
"""The rows of a problem, on one host or in blocks on several devices."""
MOST_PASSES = 30
"""Iterations on a remainder that depends on u, before the fit is given up."""


@dataclass(frozen=True)
class Fit:
    """New parameters and how well they fit.

    `residual` is the L² norm over the closed domain of what is left, `start` what it was before,
    `size` the norm of the target; `rank` and `condition` are those of the last least-squares
    problem; `iterations` counts those that were accepted, `rejected` those that were not.
    """

    theta: Float[np.ndarray, " p"]
    residual: float
    start: float
    size: float
    rank: int = 0
    condition: float = 1.0
    iterations: int = 0
    rejected: int = 0
    step_error: float = 0.0
    """The error of the whole step, as a scheme that estimates it does, relative to the solution."""

    @property
    def misfit(self) -> float:
        """What is left, relative to what had to be fitted."""
        whole = float(np.hypot(self.size, self.start))
        return self.residual / whole if whole > 0 else 0.0


class FixedPoint:
    """Whether an iteration has converged, seen from the size of its changes.

    With changes falling by a factor ρ what is left to go is ρ/(1 − ρ) times the last one; that
    must be small. Small changes that no longer fall are round-off.
    """

    LARGEST_NOISE = 1e-3
    """Changes above this part of the solution are never taken for round-off."""

    def __init__(self, tolerance: float = 1e-13, settled: float = 1e-10):
        self.tolerance, self.settled = tolerance, settled
        self.before, self.growing = math.inf, 0

    def reached(self, change: float, size: float, noise: float = 0.0) -> bool:
        """Take note of a change; True if the iteration may stop. `noise`: what round-off makes."""
        ratio = change / self.before if self.before else 0.0
        self.growing = self.growing + 1 if ratio >= 1 else 0
        first, self.before = math.isinf(self.before), change
        if ratio >= 0.9:
            return change <= max(self.settled * size, min(noise, self.LARGEST_NOISE * size))
        # The first change has no ratio to go by.
        return change * (1.0 if first else ratio / (1 - ratio)) <= self.tolerance * size

    @property
    def hopeless(self) -> bool:
        """Whether the changes have grown several times in a row."""
        return self.growing >= 3


@runtime_checkable
class Projection(Protocol):
    """Finds a θ whose function is the target inside and meets the conditions on the boundary."""

    def fit(
        self,
        theta: Float[np.ndarray, " p"],
        collocation: AnyCollocation,
        target: Float[np.ndarray, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
    ) -> Fit:
        """Fit at time t, starting from θ; `key` names the random choices, (seed, step, stage)."""
        ...


def fit_quantities(
    fits: Sequence[Fit], segments: Sequence[str], sizes: Sequence[float]
) -> dict[str, float]:
    """What the fits of a step were like, and the size of what is left of each condition."""
    boundary = zip(segments, sizes, strict=True)
    return {
        "fit_residual": fits[-1].misfit,
        "rank": fits[-1].rank,
        "condition": fits[-1].condition,
        "accepted": sum(fit.iterations for fit in fits),
        "rejected": sum(fit.rejected for fit in fits),
        **{f"boundary_{name}": size for name, size in boundary},
    }
