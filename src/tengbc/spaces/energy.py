"""The space of patches in the energy metric: stages are sparse symmetric equations of a weak form.

The unknowns c are coefficients of features that are orthonormal on each patch, so that M = 1 and
‖c‖ = ‖u‖. Conditions are part of the weak form: a stage has no rows of its own for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from jaxtyping import Float, Inexact

from tengbc.networks.network import Network, Parameters, with_head
from tengbc.networks.patches import PatchBody
from tengbc.patches.form import Coefficients, EnergyForm
from tengbc.patches.laws import Laws
from tengbc.patches.patches import Faces, Patches
from tengbc.pointwise import check_finite
from tengbc.projection import Fit
from tengbc.projection.fit import root_mean_square
from tengbc.spaces.interface import AbstractLinearisedSpace, Arrays

Array = np.ndarray
DENSE = 700
"""Up to this many unknowns matrices are dense."""
MOST_FACTORISATIONS = 6
MOST_MATRICES = 8


class EnergySpace(AbstractLinearisedSpace):
    """Features of patches, and the weak form of a problem's equation and conditions."""

    def __init__(self, laws: Laws, patches: Patches):
        self.laws, self.patches, self.problem = laws, patches, laws.problem
        self.components = laws.components
        self.form = EnergyForm(patches, self.components)
        self.network = with_head(PatchBody.of(patches.table), self.problem.components)
        self.parameters: Parameters[Network] = Parameters(self.network)
        self._order = self._head_order()
        equation, conditions = laws.equation_structure, laws.condition_structures.values()
        self.affine = equation.affine and all(law.affine for law in conditions)
        self.constant_matrix = equation.constant_matrix and all(
            law.constant_matrix for law in conditions
        )
        self._matrices: dict[float, tuple[sp.csc_matrix, Any]] = {}
        self._loads: dict[float, Array] = {}
        self.linearise(0.0, np.zeros(self.form.size))

    @property
    def linear(self) -> bool:
        return self.affine and self.constant_matrix

    def _head_order(self) -> Array:
        """For each unknown, its place in the network's head, which has a row per component."""
        starts, total = self.patches.table.starts, self.patches.table.unknowns
        rows = [
            k * total + np.arange(first, last)
            for first, last in zip(starts[:-1], starts[1:], strict=True)
            for k in range(self.components)
        ]
        return np.concatenate(rows)

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        return theta[self._order]

    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        found = np.zeros(len(self.parameters))
        found[self._order] = c
        return found

    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        return c

    # Matrices.

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        if self.linear and self._matrices:
            return
        self.linearised_at, self.linearised_around = float(t), c.copy()
        self._state = None if self.affine else self._around(c)
        self.stiffness, self.loads = self._assembled(float(t), self._state)
        if not self.affine:
            self._keep_linearised(float(t))
        self._matrices = {float(t): (self.stiffness, self.loads)}
        self._loads = {}
        self._factorisations: dict[complex, Callable] = {}
        self._modes: tuple[Array, Array] | None = None

    def _keep_linearised(self, t: float) -> None:
        """b̄, c̄ inside and ā, b̄ on the boundary, which the remainder takes off again."""
        self._inside_around = []
        for (batch, *_), value, slope in zip(self.form.inside, *self._state["inside"], strict=True):
            flat = lambda v: v.reshape(-1, *v.shape[2:])
            found = self.laws.lower(flat(batch.x), t, (flat(value), flat(slope)))
            self._inside_around.append([f.reshape(*batch.w.shape, *f.shape[1:]) for f in found])
        pairs = zip(self.form.around, self._state["around"], strict=True)
        self._law_around = [self._law(faces, t, state) for (faces, *_), state in pairs]

    def _around(self, c: Float[Array, " n"]) -> dict[str, Any]:
        """The values and slopes of a state at all nodes."""
        form = self.form
        return {
            "inside": (form.at_nodes(c), form.at_nodes(c, slopes=True)),
            "between": [form.at_faces(c, f, both) for f, both in form.between],
            "around": [form.at_faces(c, f, [(v, s)]) for f, v, s in form.around],
        }

    def _assembled(self, t: float, state) -> tuple[sp.csc_matrix, Any]:
        """K and the loads of boundary data at time t, around a state if the laws are not linear."""
        laws, form = self.laws, self.form
        places = iter(self._states(state))

        def coefficients(x: Float[Array, "n d"]) -> Coefficients:
            found = laws.coefficients(x, t, next(places))
            for part in (found.diffusion, found.drift, found.reaction):
                check_finite("The equation's linear part", part, x, t)
            return found

        around = iter([None] * len(form.around) if state is None else state["around"])
        return form.stiffness(coefficients, lambda faces: self._law(faces, t, next(around)))

    def _states(self, state):
        """(values, slopes) for each call of the coefficients, in the order of assembly."""
        form = self.form
        count = len(form.inside) + len(form.between) + len(form.around)
        if state is None:
            return [None] * count
        found = [*zip(*state["inside"], strict=True), *state["between"], *state["around"]]
        flat = lambda v: v.reshape(-1, *v.shape[2:])
        return [(flat(value), flat(slope)) for value, slope in found]

    def _law(self, faces: Faces, t: float, state) -> tuple[Array, Array]:
        """a and b at the nodes of pieces of boundary."""
        a, b = (np.zeros((*faces.w.shape, self.components)) for _ in range(2))
        for segment, rows in _by_segment(faces):
            x, normal, here = self._on(faces, rows, state)
            parts = self.laws.condition(segment, x, normal, t, here)
            for whole, part in zip((a, b), parts, strict=True):
                whole[rows] = part.reshape(*whole[rows].shape)
        return a, b

    def _on(self, faces: Faces, rows: Array, state):
        """Points and normals of some pieces, and the value and normal derivative of a state there."""
        x, normal = faces.x[rows], faces.normal[rows]
        flat = [x.reshape(-1, x.shape[-1]), normal.reshape(-1, x.shape[-1])]
        if state is None:
            return *flat, None
        value, slope = state[0][rows], state[1][rows]
        along = np.einsum("fqmd,fqd->fqm", slope, normal)
        both = value.reshape(-1, self.components), along.reshape(-1, self.components)
        return *flat, both

    # Solving.

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        known = self._factorisations
        if tau not in known:
            while len(known) >= MOST_FACTORISATIONS:
                del known[next(iter(known))]
            known[tau] = self._factorised(tau)
        return known[tau](right)

    def _factorised(self, tau: complex) -> Callable[[Array], Array]:
        """right ↦ (1 + τK)⁻¹ right."""
        size = self.stiffness.shape[0]
        if size <= DENSE and self.symmetric:
            if self._modes is None:
                self._modes = sla.eigh(self.stiffness.toarray(), driver="evd", check_finite=False)
            values, vectors = self._modes
            damped = 1.0 / (1.0 + tau * values)
            return lambda right: vectors @ (damped * (vectors.T @ right))
        matrix = sp.eye_array(size, format="csc") + tau * self.stiffness
        if size <= DENSE:
            factors = sla.lu_factor(matrix.toarray(), overwrite_a=True, check_finite=False)
            return lambda right: sla.lu_solve(factors, right, check_finite=False)
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
        found = spla.splu(sp.csc_matrix(matrix), options={"SymmetricMode": True}, **options)
        return lambda right: found.solve(right.astype(matrix.dtype, copy=False))

    @property
    def symmetric(self) -> bool:
        """Whether K is symmetric: nothing is carried along, components are not coupled."""
        apart = abs(self.stiffness - self.stiffness.T).max()
        return bool(apart <= 1e-10 * abs(self.stiffness).max())

    def propagator(self, taus, shares, mixing, weights):
        def step(c: Float[Array, " n"], times: Float[Array, " s"]) -> Float[Array, " n"]:
            inside = np.stack([self.load(float(t)) for t in times])
            new = np.zeros(len(c))
            for tau, share, beta, weight in zip(taus, shares, mixing, weights, strict=True):
                tau = complex(tau) if tau.imag else float(tau.real)
                right = share * c + tau * (beta @ inside)
                new += np.real(weight * self.solve(tau, right, np.zeros(0)))
            return new

        return step

    # Sources, data and what is not linear.

    def load(self, t: float) -> Float[Array, " n"]:
        """F(t): sources and boundary data."""
        if t not in self._loads:
            while len(self._loads) >= MOST_MATRICES:
                del self._loads[next(iter(self._loads))]
            self._loads[t] = self._load(t, self._matrix(t)[1])
        return self._loads[t]

    def _matrix(self, t: float) -> tuple[sp.csc_matrix, Any]:
        """K and the loads of boundary data at a time, of laws that change with it."""
        if self.constant_matrix or not self.affine:
            return self.stiffness, self.loads
        if t not in self._matrices:
            while len(self._matrices) >= MOST_MATRICES:
                del self._matrices[next(iter(self._matrices))]
            self._matrices[t] = self._assembled(t, None)
        return self._matrices[t]

    def _load(self, t: float, loads) -> Float[Array, " n"]:
        density = []
        for batch, *_ in self.form.inside:
            x = batch.x.reshape(-1, batch.x.shape[-1])
            found = self.laws.density(x, t)
            check_finite("The source", found, x, t)
            density.append(found.reshape(*batch.w.shape, -1))
        return self.form.load(density) + self.form.boundary_load(loads, self._data(t, None))

    def _data(self, t: float, states) -> list[Float[Array, "f q m"]]:
        """v of the conditions at their nodes; of laws that are not linear, around a state."""
        found = []
        for k, (faces, *_) in enumerate(self.form.around):
            v = np.zeros((*faces.w.shape, self.components))
            for segment, rows in _by_segment(faces):
                x, normal, here = self._on(faces, rows, states[k] if states else None)
                g = self.laws.residual(segment, x, normal, t, here)
                check_finite(f"The condition on {segment}", g, x, t)
                if here is not None:
                    law = self._law_around[k]
                    a, b = (part[rows].reshape(-1, self.components) for part in law)
                    g = g - a * here[0] - b * here[1]
                v[rows] = -g.reshape(v[rows].shape)
            found.append(v)
        return found

    def remainder(
        self, c: Float[Array, " n"], t: float
    ) -> tuple[Float[Array, " i"], Float[Array, " b"]]:
        nothing = np.zeros(0)
        if self.affine:
            load, (matrix, _) = self.load(float(t)), self._matrix(float(t))
            moved = 0.0 if matrix is self.stiffness else (self.stiffness - matrix) @ c
            return load + moved, nothing
        return self._nonlinear(c, float(t)), nothing

    def _nonlinear(self, c: Float[Array, " n"], t: float) -> Float[Array, " i"]:
        """∫(N(u) − b̄·∇u − c̄u)w, and what the conditions ask for around u."""
        now, density = self._around(c), []
        for (batch, *_), value, slope, found in zip(
            self.form.inside, *now["inside"], self._inside_around, strict=True
        ):
            x = batch.x.reshape(-1, batch.x.shape[-1])
            flat = lambda v: v.reshape(-1, *v.shape[2:])
            rate = self.laws.density(x, t, (flat(value), flat(slope))).reshape(value.shape)
            check_finite("The equation's right-hand side", flat(rate), x, t)
            rate = rate - np.einsum("bqkmd,bqmd->bqk", found[0], slope)
            density.append(rate - np.einsum("bqkm,bqm->bqk", found[1], value))
        data = self._data(t, now["around"])
        return self.form.load(density) + self.form.boundary_load(self.loads, data)

    def remainders(self, heads, times):
        found = [self.remainder(c, float(t))[0] for c, t in zip(heads, times, strict=True)]
        return np.stack(found), np.zeros((len(found), 0))

    # What every scheme may ask.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return self.head(theta)[:, None]

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        c = self.head(theta)
        return (self.remainder(c, t)[0] - self.stiffness @ c)[:, None]

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        c = target[:, 0]
        return self._fit(c)

    def _fit(self, c: Float[Array, " n"]) -> Fit:
        return Fit(self.theta(c), 0.0, 0.0, float(np.linalg.norm(c)), len(c))

    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        return self._fit(c)

    def size(self, theta: Float[Array, " p"]) -> float:
        return float(np.linalg.norm(self.head(theta)) / np.sqrt(self.problem.domain.measure))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        return {"rank": float(len(self._order))}

    def noise(self, c: Float[Array, "..."]) -> float:
        return 1e3 * float(np.finfo(float).eps) * float(np.linalg.norm(c))

    def fitted(self, values: Callable[[Array], Array]) -> Float[Array, " p"]:
        """θ of the L² projection of a field that is given at points."""
        density = []
        for batch, *_ in self.form.inside:
            x = batch.x.reshape(-1, batch.x.shape[-1])
            density.append(values(x).reshape(*batch.w.shape, self.components))
        return self.theta(self.form.load(density))

    # What a resumed march needs.

    def memory(self) -> Arrays:
        return {"time": np.array([self.linearised_at]), "head": self.linearised_around}

    def remember(self, memory: Arrays) -> None:
        t, c = float(memory["time"][0]), memory["head"]
        if t != self.linearised_at or not np.array_equal(c, self.linearised_around):
            self.linearise(t, c)


def _by_segment(faces: Faces) -> list[tuple[str, Array]]:
    names = np.array(faces.segments)
    return [(str(name), np.flatnonzero(names == name)) for name in np.unique(names)]
