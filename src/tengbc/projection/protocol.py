"""What every projection can do: the only place where θ changes."""

from typing import Protocol

import numpy as np
from jaxtyping import Float

from tengbc.projection.collocation import Collocation
from tengbc.projection.stats import Fit


class Projection(Protocol):
    """Finds a θ whose function is the target inside and meets the conditions on the boundary."""

    def fit(
        self,
        theta: Float[np.ndarray, " p"],
        collocation: Collocation,
        target: Float[np.ndarray, "n m"],
        t: float,
        key: tuple[int, ...],
        first: bool = False,
    ) -> Fit:
        """Fit at time t, starting from θ; `key` names the random choices, (seed, step, stage)."""
        ...
