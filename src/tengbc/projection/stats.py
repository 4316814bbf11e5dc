"""What one fit reports."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Fit:
    """New parameters and how well they fit.

    `residual` is the L² norm over the closed domain of what is left, `start` what it was before,
    `size` the norm of the target;
    `rank` and `condition` are those of the last least-squares problem; `iterations` counts those
    that were accepted, `rejected` those that were not.
    """

    theta: Float[np.ndarray, " p"]
    residual: float
    start: float
    size: float
    rank: int = 0
    condition: float = 1.0
    iterations: int = 0
    rejected: int = 0

    @property
    def misfit(self) -> float:
        """What is left, relative to what had to be fitted."""
        whole = float(np.hypot(self.size, self.start))
        return self.residual / whole if whole > 0 else 0.0
