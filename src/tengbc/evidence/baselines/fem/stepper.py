"""One time step of a semi-discrete problem."""

import numpy as np
import scipy.sparse
from jaxtyping import Float
from scipy.sparse.linalg import SuperLU, splu

from tengbc.evidence.baselines.fem.schemes import FemScheme
from tengbc.evidence.baselines.fem.system import System

Array = np.ndarray


class FemStepper:
    """Steps of one size Δt; matrices are factorised once unless they change in time."""

    def __init__(self, system: System, scheme: FemScheme, dt: float):
        self.system, self.scheme, self.dt = system, scheme, dt
        self._free = np.flatnonzero(system.free)
        self._mass = system.mass[self._free]
        self._kept = None if system.matrix_changes else self._prepare(0.0)
        self._explicit, weights = np.zeros_like(scheme.implicit), None
        if scheme.explicit is not None and system.physics.nonlinear:
            self._explicit, weights = scheme.explicit, scheme.weights
        self._ending = None if weights is None else weights - self._explicit[-1]
        if self._ending is not None:
            self._mass_factor = _factorised(self._mass[:, self._free])

    def step(self, u: Float[Array, " n"], times: Float[Array, " s"]) -> Float[Array, " n"]:
        """The state at the last of the stage times, from the state u at the first.

        M is applied to all unknowns, so M(U − u) holds the exact change of the prescribed values:
        the stage equations are a Runge–Kutta method for M u, and no order is lost to them.
        """
        system, dt, free = self.system, self.dt, self._free
        implicit, explicit = self.scheme.implicit, self._explicit
        last = len(times) - 1
        start = self._mass @ u
        stage, slopes, pushes = u, {}, {}
        for i in range(last):
            # Evaluate only what a later stage will use.
            if implicit[i + 1 :, i].any():
                slopes[i] = self._slope(stage, float(times[i]))
            if explicit[i + 1 :, i].any():
                pushes[i] = system.nonlinear(stage)[free]
            right = start.copy()
            for coefficients, rates in ((implicit[i + 1], slopes), (explicit[i + 1], pushes)):
                for j, rate in rates.items():
                    right += dt * coefficients[j] * rate
            stage = self._solve(right, float(times[i + 1]))
        if self._ending is not None:
            pushes[last] = system.nonlinear(stage)[free]
            rest = sum(self._ending[j] * push for j, push in pushes.items())
            stage[free] += self._mass_factor.solve(dt * rest)
        return stage

    def _slope(self, u: Float[Array, " n"], t: float) -> Float[Array, " f"]:
        """f(t) − K u at the free unknowns."""
        matrix, _, _ = self._kept or self._prepare(t, factorise=False)
        return self.system.load(t)[self._free] - matrix @ u

    def _solve(self, right: Float[Array, " f"], t: float) -> Float[Array, " n"]:
        """U with (M + γΔt K) U = right + γΔt f(t) and the prescribed values of time t."""
        _, coupling, factor = self._kept or self._prepare(t)
        assert factor is not None
        u = np.zeros(len(self.system.free))
        self.system.prescribe(u, t)
        right = right + self.scheme.gamma * self.dt * self.system.load(t)[self._free]
        if len(self._free) < len(u):
            right -= coupling @ u
        u[self._free] = factor.solve(right)
        return u

    def _prepare(
        self, t: float, factorise: bool = True
    ) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix, SuperLU | None]:
        """K, M + γΔt K (rows of free unknowns), and the factors of the latter's free part."""
        matrix = self.system.matrix(t)[self._free]
        coupling = self._mass + self.scheme.gamma * self.dt * matrix
        factor = _factorised(coupling[:, self._free]) if factorise else None
        return matrix, coupling, factor


def _factorised(matrix: scipy.sparse.csr_matrix) -> SuperLU:
    """Sparse LU factors.

    Symmetric mode and minimum degree suit a matrix whose pattern is symmetric and whose diagonal is
    dominated by the mass: half the time and fill-in of the default.
    """
    return splu(
        matrix.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
