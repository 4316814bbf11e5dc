"""One step of a linear implicit scheme as one matrix, for marches of many steps.

Where the equation's and the conditions' matrices stay, u(t + Δt) is an affine function of u(t) and
of the data at the stage times. In coordinates y = R₀c, with R₀ the triangle of the factorised rows
(Φ; B̄), y is as large as u and its boundary values are, and

    y⁺ = S·y + Σᵢ Eᵢ eᵢ + Σᵢ Bᵢ dᵢ

with matrices of moderate size: a step costs a product with S instead of a fit for each stage.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float, Inexact

from tengbc.projection.linear import LinearSpace

Array = np.ndarray


class Propagator:
    """The step matrix of stages Wⱼ with (1 − τⱼL̄)Wⱼ = αⱼu + τⱼ Σᵢ βⱼᵢ eᵢ, B̄Wⱼ = Σᵢ βⱼᵢ dᵢ.

    The step is u⁺ = Re Σⱼ weightⱼ Wⱼ.
    """

    def __init__(
        self,
        space: LinearSpace,
        taus: Inexact[Array, " j"],
        shares: Inexact[Array, " j"],
        mixing: Inexact[Array, "j s"],
        weights: Inexact[Array, " j"],
    ):
        rows = space.collocation.interior_rows
        self.triangle = space.factorisation(0.0).triangle
        values = sla.solve_triangular(self.triangle, space.phi.T, trans=1, check_finite=False).T
        # What does not change in time needs no matrix for each stage, only their sum.
        total = mixing.sum(axis=1, keepdims=True)
        source_mixing = total if space.laws.source_is_constant else mixing
        data_mixing = total if space.laws.data_are_constant else mixing
        unknowns, count = space.unknowns, len(space.scale) - rows
        from_u = np.zeros((unknowns, rows))
        self.from_source = np.zeros((source_mixing.shape[1], unknowns, rows))
        self.from_data = np.zeros((data_mixing.shape[1], unknowns, count))
        for j, (tau, weight) in enumerate(zip(taus, weights, strict=True)):
            tau = complex(tau) if tau.imag else float(tau.real)
            matrix = space.factorise(tau).followed_by(self.triangle) * space.scale
            inside, outside = matrix[:, :rows], matrix[:, rows:]
            from_u += np.real(weight * shares[j] * inside)
            for i, beta in enumerate(source_mixing[j]):
                self.from_source[i] += np.real(weight * beta * tau * inside)
            for i, beta in enumerate(data_mixing[j]):
                self.from_data[i] += np.real(weight * beta * outside)
        self.matrix = from_u @ values

    def step(
        self, space: LinearSpace, c: Float[Array, " n"], times: Float[Array, " s"]
    ) -> Float[Array, " n"]:
        """The head after a step with the given stage times."""
        y = self.matrix @ (self.triangle @ c)
        for matrix, data in zip(self.from_data, space.laws.data(times), strict=False):
            y += matrix @ data
        for matrix, time in zip(self.from_source, times, strict=False):
            y += matrix @ space.rate_rest(c, time)
        return sla.solve_triangular(self.triangle, y, check_finite=False)
