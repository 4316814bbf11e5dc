"""The semi-discrete problem M u' = f(t) − K(t) u + N(u), some unknowns prescribed."""

import jax
import numpy as np
import scipy.sparse
from jaxtyping import Float

from tengbc.evidence.baselines.fem.meshes import FemMesh
from tengbc.evidence.baselines.fem.samples import Computed, Samples, Schedule, total
from tengbc.evidence.baselines.fem.tabulated import leaning_upstream, tabulate_cells
from tengbc.evidence.baselines.fem.weak_form import BoundaryForm, Physics
from tengbc.problem import Problem

Array = np.ndarray


class System:
    """Matrices and loads of a problem on a mesh.

    `schedule` lists the times at which loads and prescribed values will be asked for, so that
    functions of time are evaluated many times at once.
    """

    def __init__(
        self, problem: Problem, mesh: FemMesh, found: Physics, schedule: Schedule | None = None
    ):
        self.physics = found
        cells = tabulate_cells(mesh)
        x = cells.points
        flows = [Samples(v, x) for v in found.velocities]
        velocity = total(flows)
        if velocity is not None and not found.diffusive and not velocity.time_dependent:
            cells = leaning_upstream(cells, velocity(0.0))
        self._cells = cells
        self._kappa = total([Samples(kappa, x) for kappa in found.kappas])
        # κ∇²u = ∇·(κ∇u) − ∇κ·∇u: a slope of κ acts like a flow.
        slopes = [Samples(kappa, x, gradient=True) for kappa in found.kappas if not kappa.constant]
        self._drift = total(flows + slopes)
        self._source = total([Samples(f, x, schedule) for f in found.sources])
        boundary = BoundaryForm(problem, mesh, found, schedule)
        self._fixed, self._exchanges = boundary.fixed, boundary.exchanges
        self.mass = cells.products()
        self.free = np.ones(mesh.unknowns, dtype=bool)
        for part in self._fixed:
            self.free[part.numbers] = False
        factors = [exchange.factor for exchange in self._exchanges]
        fluxes = [exchange.flux for exchange in self._exchanges]
        self.matrix_changes = _changing(self._kappa, self._drift, *factors)
        self._matrix = None if self.matrix_changes else self._assemble(0.0)
        changing = _changing(self._source, *fluxes)
        self._steady_load = None if changing else self._assemble_load(0.0)
        self._reaction = jax.jit(jax.vmap(lambda u: sum(r(u) for r in found.reactions)))

    def matrix(self, t: float) -> scipy.sparse.csr_matrix:
        """K(t): diffusion, transport and what the boundary takes in proportion to u."""
        return self._assemble(t) if self._matrix is None else self._matrix

    def load(self, t: float) -> Float[Array, " n"]:
        """f(t): sources and boundary data."""
        return self._assemble_load(t) if self._steady_load is None else self._steady_load

    def nonlinear(self, u: Float[Array, " n"]) -> Float[Array, " n"]:
        """N(u): self-advection and reactions, tested with every basis function."""
        values = self._cells.field(u)
        total = np.zeros_like(values)
        if self.physics.self_advection:
            total -= values * self._cells.slope(u)
        if self.physics.reactions:
            with jax.enable_x64(True):
                total += np.asarray(self._reaction(values.ravel())).reshape(values.shape)
        return self._cells.load(total)

    def prescribe(self, u: Float[Array, " n"], t: float) -> None:
        """Write the prescribed values at time t into u."""
        for part in self._fixed:
            u[part.numbers] = part.values(t)

    def _assemble(self, t: float) -> scipy.sparse.csr_matrix:
        total = scipy.sparse.csr_matrix(self.mass.shape)
        if self._kappa is not None:
            total = total + self._cells.stiffness(self._kappa(t))
        if self._drift is not None:
            total = total + self._cells.convection(self._drift(t))
        for exchange in self._exchanges:
            factor = exchange.factor(t)
            if factor.any():
                total = total + exchange.facets.products(factor)
        return total

    def _assemble_load(self, t: float) -> Float[Array, " n"]:
        total = np.zeros(len(self.free))
        if self._source is not None:
            total += self._cells.load(self._source(t))
        for exchange in self._exchanges:
            total += exchange.facets.load(exchange.flux(t))
        return total


def _changing(*parts: Samples | Computed | None) -> bool:
    return any(part is not None and part.time_dependent for part in parts)
