"""The finite-element solution: nodal values at the stored times, callable in the domain."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
import scipy.sparse
from jaxtyping import Float

from tengbc.evidence.baselines.fem.locate import interpolation
from tengbc.evidence.baselines.fem.meshes import FemMesh
from tengbc.evidence.baselines.solution import AbstractBaselineSolution
from tengbc.geometry import PeriodicBox

Array = np.ndarray


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FemSolution(AbstractBaselineSolution):
    """u(x, t) at the stored `times`, with `values` (k, unknowns) at the nodes."""

    method: ClassVar[str] = "finite-element"
    mesh: FemMesh
    values: Float[Array, "k n"]
    _kept: dict[bytes, scipy.sparse.csr_matrix] = field(default_factory=dict, repr=False)

    @property
    def unknowns(self) -> int:
        """The number of nodal values that make up the solution at one time."""
        return self.mesh.unknowns

    def at_times(self, x: Float[Array, "n 2"], times: Sequence[float] | Array) -> Array:
        """u at points x (n, 2) and several stored times.

        The matrix that evaluates at a set of points is kept, so further times cost a product.
        """
        key = x.tobytes()
        if key not in self._kept:
            self._check_inside(x)
            domain = self.problem.domain
            placed = domain.wrap(x) if isinstance(domain, PeriodicBox) else x
            self._kept.clear()  # one set of points is all that is ever in use
            self._kept[key] = interpolation(self.mesh, placed)
        return np.stack([self._kept[key] @ self.values[self._index(t)] for t in times])
