"""The finite-element solution: nodal values at the stored times, callable in the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.baselines.fem.locate import interpolation
from tengbc.baselines.fem.meshes import FemMesh
from tengbc.errors import OutsideError
from tengbc.geometry import PeriodicBox
from tengbc.geometry.points import outside_error
from tengbc.outcome import Outcome, Result
from tengbc.pointwise import as_points
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FemSolution:
    """u(x, t) at the stored `times`, with `values` (k, unknowns) at the nodes.

    `seconds` tells where the time went (mesh, assemble, march, and compile apart); `facts` holds
    the choices made; `result` says how the run ended.
    """

    problem: Problem
    mesh: FemMesh
    times: Float[Array, " k"]
    values: Float[Array, "k n"]
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    result: Result = field(default_factory=lambda: Result(Outcome.DONE))
    _kept: dict[bytes, scipy.sparse.csr_matrix] = field(default_factory=dict, repr=False)

    @property
    def unknowns(self) -> int:
        """The number of nodal values that make up the solution at one time."""
        return self.mesh.unknowns

    @property
    def total_seconds(self) -> float:
        """Mesh, assembly, factorisation and march together, compilation apart."""
        return sum(value for phase, value in self.seconds.items() if phase != "compile")

    def __call__(self, x: ArrayLike, t: int | float) -> Float[Array, "..."] | np.floating:
        """u at points x, one (2,) or many (n, 2), at a stored time t; nothing is interpolated in t.

        The matrix that evaluates at a set of points is kept, so further times cost a product.
        """
        points = as_points(x, 2)
        values = self._matrix(np.atleast_2d(points)) @ self.values[self._index(t)]
        return values if points.ndim == 2 else values[0]

    def at_times(self, x: Float[Array, "n 2"], times: Sequence[float] | Array) -> Array:
        """u at points x (n, 2) and several stored times."""
        return np.stack([np.asarray(self(x, float(t))) for t in times])

    def _index(self, t: int | float) -> int:
        index = int(np.argmin(np.abs(self.times - t)))
        if not abs(self.times[index] - t) <= 1e-12 * max(1.0, self.times[-1]):
            raise OutsideError(
                f"The finite-element solution holds no values at t = {t:g}, only at "
                f"{len(self.times)} times from {self.times[0]:g} to {self.times[-1]:g}; "
                f"pass times=… with the ones you need."
            )
        return index

    def _matrix(self, x: Float[Array, "n 2"]) -> scipy.sparse.csr_matrix:
        key = x.tobytes()
        if key not in self._kept:
            domain = self.problem.domain
            inside = domain.contains(x)
            if not inside.all():
                raise outside_error(x, inside)
            placed = domain.wrap(x) if isinstance(domain, PeriodicBox) else x
            self._kept.clear()  # one set of points is all that is ever in use
            self._kept[key] = interpolation(self.mesh, placed)
        return self._kept[key]
