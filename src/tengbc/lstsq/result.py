"""What a least-squares solve tells beside its answer."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class LeastSquaresResult:
    """x of minimal norm among those that minimise ‖b − Ax‖ on the kept directions.

    `rank`: directions kept; `condition`: largest over smallest kept singular value (or its
    estimate from a triangular factor); `residual`: ‖b − Ax‖; `outcome`: "solved", or the fallback
    that was taken and why.
    """

    x: Float[np.ndarray, " n"]
    rank: int
    condition: float
    residual: float
    outcome: str = "solved"
