"""Damped normal equations: one matrix for several dampings and right-hand sides."""

from collections.abc import Callable

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

Array = np.ndarray
Solve = Callable[[Float[Array, " r"]], Float[Array, " p"]]


class DampedNormalEquations:
    """min ‖r − Jδ‖² + λ‖δ‖² for several λ, in the smaller of parameter and sample space."""

    def __init__(self, columns: Float[Array, "p r"], residual: Float[Array, " r"]):
        self.columns, self.residual = columns, residual
        self.few_parameters = columns.shape[0] <= columns.shape[1]
        self.gram = columns @ columns.T if self.few_parameters else columns.T @ columns
        self.unit = float(np.trace(self.gram)) / len(self.gram)

    def factor(self, damping: float) -> Solve:
        """The map r ↦ δ for λ = damping · mean diagonal."""
        matrix = self.gram.copy()
        matrix[np.diag_indices_from(matrix)] += damping * self.unit
        factor = sla.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(right: Float[Array, " r"]) -> Float[Array, " p"]:
            if self.few_parameters:
                return sla.cho_solve(factor, self.columns @ right, check_finite=False)
            return self.columns @ sla.cho_solve(factor, right, check_finite=False)

        return solve

    def predicted_residual(self, step: Float[Array, " p"]) -> float:
        """The residual that a step leaves if all is linear."""
        return float(np.linalg.norm(self.residual - step @ self.columns))
