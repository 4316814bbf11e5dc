"""When an iteration may stop."""

import math

MOST_PASSES = 30
"""Iterations on a rest that depends on u, before the fit is given up."""


class Rest:
    """Whether an iteration has come to rest, seen from the size of its changes.

    With changes falling by a factor ρ the rest of the way is ρ/(1 − ρ) times the last one; that
    must be small. Small changes that no longer fall are round-off.
    """

    LARGEST_NOISE = 1e-3
    """Round-off that hides more of the solution than this is no excuse."""

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
