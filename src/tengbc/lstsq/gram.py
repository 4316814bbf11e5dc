"""Least squares by the eigenvalues of AᵀA: three times faster than singular values."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tengbc.lstsq.refinement import refined
from tengbc.lstsq.result import LeastSquaresResult
from tengbc.lstsq.spectrum import spectrum

Array = np.ndarray
SMALLEST = 1e-6
"""Singular values below this part of the largest keep too few digits in AᵀA."""


def gram(matrix: Float[Array, "m n"], b: Float[Array, " m"], cutoff: float):
    """AᵀA = VΣ²Vᵀ, good while all kept singular values lie above 1e-6 of the largest.

    Where smaller ones are wanted, the singular values of A itself answer and `outcome` says so.
    """
    transposed = np.ascontiguousarray(matrix.T)
    factored = spectrum(transposed, b, "gram")
    found = factored.solve(max(cutoff, SMALLEST))
    if cutoff < SMALLEST and found.rank < min(matrix.shape):
        reason = f"singular values below {SMALLEST:g} of the largest are lost in AᵀA"
        return replace(
            spectrum(transposed, b, "svd").solve(cutoff), outcome=f"fell back to SVD: {reason}"
        )
    directions = factored.directions[:, : found.rank] / factored.singular[: found.rank]

    def solve(gradient: Float[Array, " n"]) -> Float[Array, " n"]:
        return directions @ (directions.T @ gradient)

    x, residual = refined(solve, matrix, b, found.x)
    return LeastSquaresResult(x, found.rank, found.condition, residual)
