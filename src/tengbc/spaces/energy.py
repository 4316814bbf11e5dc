"""The space of patches in the energy metric: stages are sparse symmetric equations of a weak form.

The unknowns c are coefficients of features that are orthonormal on each patch, so that M = 1 and
‖c‖ = ‖u‖. Conditions are part of the weak form: a stage has no rows of its own for them.
"""

from __future__ import annotations

import itertools
import math
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
from tengbc.spaces.interface import AbstractLinearisedSpace, Arrays

Array = np.ndarray
DENSE = 700
"""Up to this many unknowns matrices are dense."""
MOST_ENTRIES = 60_000_000
"""Numbers in the factorisations that are kept, about 1 GB."""
MOST_MATRICES = 8


class EnergySpace(AbstractLinearisedSpace):
    """Features of patches, and the weak form of a problem's equation and conditions."""

    def __init__(self, laws: Laws, patches: Patches):
        self.laws, self.patches, self.problem = laws, patches, laws.problem
        self.components = laws.components
        self.form = EnergyForm(patches, self.components)
        self.network = with_head(PatchBody.of(patches.table), self.problem.components)
        self.parameters: Parameters[Network] = Parameters(self.network)
        self.order = self._head_order()
        equation, conditions = laws.equation_structure, laws.condition_structures.values()
        self._affine_conditions = all(law.affine for law in conditions)
        self.affine = equation.affine and self._affine_conditions
        self.constant_matrix = equation.constant_matrix and all(
            law.constant_matrix for law in conditions
        )
        self.steady_source = equation.constant_offset
        self.steady_data = {
            name: law.constant_offset for name, law in laws.condition_structures.items()
        }
        self._matrices: dict[float, tuple[sp.csc_matrix, Any]] = {}
        self.linearise(0.0, np.zeros(self.form.size))

    @property
    def linear(self) -> bool:
        return self.affine and self.constant_matrix

    def _head_order(self) -> Array:
        """For each unknown, its place in the network's head, which has a row per component."""
        starts, total = self.patches.table.starts, self.patches.table.unknowns
        rows = [
            k * total + np.arange(first, last)
            for first, last in itertools.pairwise(starts)
            for k in range(self.components)
        ]
        return np.concatenate(rows)

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        return theta[self.order]

    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        found = np.zeros(len(self.parameters))
        found[self.order] = c
        return found

    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        return c

    # Matrices.

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        if self.linear and self._matrices:
            return
        self.linearised_at, self.linearised_around = float(t), c.copy()
        state = None if self.affine else self._around(c)
        self.stiffness, self.loads = self._assembled(float(t), state)
        if state is not None:
            self._keep_linearised(float(t), state)
        self._matrices = {float(t): (self.stiffness, self.loads)}
        self._loads: dict[float, Array] = {}
        self._source: Array | None = None
        self._steady: Array | None = None
        self._data_before: dict[tuple[int, str], Array] = {}
        self._factorisations: dict[complex, tuple[Callable, int]] = {}
        self._modes: tuple[Array, Array] | None = None

    def _keep_linearised(self, t: float, state: dict[str, Any]) -> None:
        """b̄, c̄ inside and ā, b̄ on the boundary, which the remainder takes off again."""
        self._inside_around = []
        for (batch, *_), value, slope in zip(self.form.inside, *state["inside"], strict=True):
            flat = lambda v: v.reshape(-1, *v.shape[2:])
            found = self.laws.lower(flat(batch.x), t, (flat(value), flat(slope)))
            self._inside_around.append([f.reshape(*batch.w.shape, *f.shape[1:]) for f in found])
        pairs = zip(self.form.around, state["around"], strict=True)
        self._law_around = [self._law(faces, t, here) for (faces, *_), here in pairs]

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
        """Points and normals of some pieces, and a state's value and normal derivative there."""
        x, normal = faces.x[rows], faces.normal[rows]
        flat = [x.reshape(-1, x.shape[-1]), normal.reshape(-1, x.shape[-1])]
        if state is None:
            return *flat, None
        value, slope = state[0][rows], state[1][rows]
        along = np.sum(slope * normal[:, :, None], axis=-1)
        both = value.reshape(-1, self.components), along.reshape(-1, self.components)
        return *flat, both

    # Solving.

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        known = self._factorisations
        if tau not in known:
            solver, entries = self._factorised(tau)
            while known and entries + sum(n for _, n in known.values()) > MOST_ENTRIES:
                del known[next(iter(known))]
            known[tau] = solver, entries
        return known[tau][0](right)

    def _factorised(self, tau: complex) -> tuple[Callable[[Array], Array], int]:
        """right ↦ (1 + τK)⁻¹ right, and how many numbers that takes."""
        size = self.form.size
        if size <= DENSE and self.symmetric:
            self._modes = self._modes or _modes(self.stiffness)
            values, vectors = self._modes
            damped = 1.0 / (1.0 + tau * values)
            return lambda right: vectors @ (damped * (vectors.T @ right)), size
        matrix = sp.eye_array(size, format="csc") + tau * self.stiffness
        if size <= DENSE:
            factors = sla.lu_factor(matrix.toarray(), overwrite_a=True, check_finite=False)
            return lambda right: sla.lu_solve(factors, right, check_finite=False), size**2
        options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
        found = spla.splu(sp.csc_matrix(matrix), options={"SymmetricMode": True}, **options)
        return lambda right: found.solve(right.astype(matrix.dtype, copy=False)), found.nnz

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
        if self._source is None or not self.steady_source:
            density = []
            for batch, *_ in self.form.inside:
                x = batch.x.reshape(-1, batch.x.shape[-1])
                found = self.laws.density(x, t)
                check_finite("The source", found, x, t)
                density.append(found.reshape(*batch.w.shape, -1))
            self._source = self.form.load(density)
        if self.constant_matrix:
            return self._source + self._boundary(t)
        return self._source + self.form.boundary_load(loads, self._data(t, None))

    def _data(self, t: float, states) -> list[Float[Array, "_f _q m"]]:
        """v of the conditions at their nodes; of laws that are not linear, around a state."""
        found = []
        for k, (faces, *_) in enumerate(self.form.around):
            v = np.zeros((*faces.w.shape, self.components))
            for segment, rows in _by_segment(faces):
                if (
                    states is None
                    and self.steady_data[segment]
                    and (k, segment) in self._data_before
                ):
                    v[rows] = self._data_before[k, segment]
                    continue
                x, normal, here = self._on(faces, rows, states[k] if states else None)
                g = self.laws.residual(segment, x, normal, t, here)
                check_finite(f"The condition on {segment}", g, x, t)
                if here is not None:
                    law = self._law_around[k]
                    a, b = (part[rows].reshape(-1, self.components) for part in law)
                    g = g - a * here[0] - b * here[1]
                v[rows] = -g.reshape(v[rows].shape)
                self._data_before[k, segment] = v[rows]
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
        form, density = self.form, []
        values = form.at_nodes(c)
        slopes = form.at_nodes(c, slopes=True) if self.laws.uses_slope else [None] * len(values)
        for (batch, *_), value, slope, found in zip(
            form.inside, values, slopes, self._inside_around, strict=True
        ):
            x = batch.x.reshape(-1, batch.x.shape[-1])
            flat = lambda v: v.reshape(-1, *v.shape[2:])
            none = np.zeros((len(x), self.components, x.shape[1]))
            here = flat(value), none if slope is None else flat(slope)
            rate = self.laws.density(x, t, here).reshape(value.shape)
            check_finite("The equation's right-hand side", flat(rate), x, t)
            rate = rate - (found[1] @ value[..., None])[..., 0]
            if slope is not None:
                rate = rate - np.einsum("bqkmd,bqmd->bqk", found[0], slope)
            density.append(rate)
        if self._affine_conditions:
            return form.load(density) + self._boundary(t)
        around = [form.at_faces(c, f, [(v, s)]) for f, v, s in form.around]
        return form.load(density) + form.boundary_load(self.loads, self._data(t, around))

    def _boundary(self, t: float) -> Float[Array, " n"]:
        """What the data of linear conditions load, kept as long as they stay."""
        if self._steady is None or not all(self.steady_data.values()):
            self._steady = self.form.boundary_load(self.loads, self._data(t, None))
        return self._steady

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
        return {"rank": float(len(self.order))}

    def noise(self, c: Float[Array, "..."]) -> float:
        return 1e3 * float(np.finfo(float).eps) * float(np.linalg.norm(c))

    def fitted(self, field: Callable[[Array], Array], tolerance: float = 0.0) -> Float[Array, " p"]:
        """θ of the L² projection of a field, of one that jumps by lines cut at the jumps."""
        density, size, missed = [], 0.0, []
        largest = np.zeros(self.components)
        for batch, *_ in self.form.inside:
            x = batch.x.reshape(-1, batch.x.shape[-1])
            density.append(field(x).reshape(*batch.w.shape, self.components))
            size += float(np.sum(batch.w[..., None] * density[-1] ** 2))
            largest = np.maximum(largest, np.abs(density[-1]).max(axis=(0, 1)))
        c = self.form.load(density)
        for (batch, *_), values, near in zip(
            self.form.inside, density, self.form.at_nodes(c), strict=True
        ):
            left = np.sum(batch.w[..., None] * (values - near) ** 2, axis=(1, 2))
            missed += batch.members[left > tolerance**2 * size].tolist()
        if tolerance and missed:
            places = self.form.places
            for patch, head in self.patches.projected(
                field, missed, tolerance, math.sqrt(size), largest
            ):
                for k in range(self.components):
                    c[places(np.array([patch]), k)[0]] = head[:, k]
        return self.theta(c)

    # What a resumed march needs.

    def memory(self) -> Arrays:
        return {"time": np.array([self.linearised_at]), "head": self.linearised_around}

    def remember(self, memory: Arrays) -> None:
        t, c = float(memory["time"][0]), memory["head"]
        if t != self.linearised_at or not np.array_equal(c, self.linearised_around):
            self.linearise(t, c)


def _modes(matrix: sp.csc_matrix) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    found = np.linalg.eigh(matrix.toarray())
    return found.eigenvalues, found.eigenvectors


def _by_segment(faces: Faces) -> list[tuple[str, Array]]:
    names = np.array(faces.segments)
    return [(str(name), np.flatnonzero(names == name)) for name in np.unique(names)]
