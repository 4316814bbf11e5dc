"""The space of patches in the energy metric: stages are sparse symmetric equations of a weak form.

The unknowns c are coefficients of features that are orthonormal on each patch, so that M = 1 and
‖c‖ = ‖u‖. Conditions are part of the weak form: a stage has no rows of its own for them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from jaxtyping import Float, Inexact, Int

from tengbc.costs import machine_memory
from tengbc.errors import ProblemError
from tengbc.networks.network import Network, Parameters, with_head
from tengbc.networks.patches import PatchBody
from tengbc.patches.form import EnergyForm, Loads
from tengbc.patches.laws import Laws
from tengbc.pointwise import check_condition, check_finite
from tengbc.spaces.fronts import Dissection, factorised
from tengbc.spaces.interface import Arrays
from tengbc.spaces.weak import AbstractWeakSpace

Array = np.ndarray
DENSE = 700
"""Up to this many unknowns matrices are dense."""
SPARSE = 10_000
"""Up to this many SuperLU is quicker than dense blocks along nested dissection, by a quarter of a
whole solve with 2,000 unknowns; with 86,000 it takes more than twice as long."""
KEPT_SHARE = 0.2
"""The part of the machine's memory that factorisations may take which are kept."""
MOST_MATRICES = 8
MOST_KEPT = 4_000_000
"""Numbers of loads, and of boundary data, that are kept: other marches may take the same steps."""
ROUND_OFF = 1e-9
"""Diffusion is not negative by this part of the largest."""
Field = tuple[Float[Array, "_n m"], Float[Array, "_n m d"]]
"""Values and slopes of a field at nodes."""


class EnergySpace(AbstractWeakSpace):
    """Features of patches, and the weak form of a problem's equation and conditions."""

    def __init__(self, laws: Laws, form: EnergyForm, finer: EnergySpace | None = None):
        """`finer` is a space on the same patches that has these features and more."""
        self.laws, self.form, self.problem = laws, form, laws.problem
        self.patches, self.components = form.patches, laws.components
        self.finer = finer
        self.network = with_head(PatchBody.of(self.patches.table), self.problem.components)
        self.parameters: Parameters[Network] = Parameters(self.network)
        self._parameter_count = len(self.parameters)
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
        } | laws.steady_contacts
        self._matrices: dict[float, tuple[sp.csc_matrix, Loads]] = {}
        self.begin()

    @property
    def linear(self) -> bool:
        return self.affine and self.constant_matrix

    def coarser(self, by: int) -> EnergySpace:
        """The space of the features whose degree is lower by so much than the highest."""
        return EnergySpace(self.laws, self.form.coarser(self.patches.coarser(by)), self)

    @cached_property
    def places_in_finer(self) -> Int[Array, " n"]:
        """Where the unknowns stand among those of the finer space."""
        assert self.finer is not None
        ours, theirs = self.patches.table, self.finer.patches.table
        m = self.components
        rows = [
            theirs.starts[k] * m + component * theirs.sizes[k] + np.arange(ours.sizes[k])
            for k in range(len(self.patches))
            for component in range(m)
        ]
        return np.concatenate(rows)

    def nearest(self, c: Float[Array, " f"], tau: float) -> Float[Array, " n"]:
        """The unknowns v for which v − τ·v̇ is that of the finer space's c, at t = 0.

        In the energy metric they are the nearest. Those that stand for c's own features alone would
        begin a march with a layer: their rates miss what the others held.
        """
        assert self.finer is not None
        own = c[self.places_in_finer]
        rate = self.finer.remainder(c, 0.0)[0] - self.finer.moved(c)
        right = own - tau * (rate[self.places_in_finer] - self.remainder(own, 0.0)[0])
        return self.solve(tau, right, np.zeros(0))

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
        found = np.zeros(self._parameter_count)
        found[self.order] = c
        return found

    # Matrices.

    def begin(self) -> None:
        """Linearise as at the start of a march: what is not linear around the initial values."""
        around = np.zeros(self.form.size)
        if not self.affine:
            x = self.form.within.x
            values = self.problem.initial(x).reshape(-1, self.components)
            check_finite("The initial condition", values, x, 0.0, "correct it there")
            around = self.form.load(values)
        self.linearise(0.0, around)

    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        if self.linear and self._matrices:
            return
        self.linearised_at, self.linearised_around = float(t), c.copy()
        state = None if self.affine else self.form.at_all(c)
        if self.linear and self.finer is not None:
            # Their part of the finer space's matrices: the same form, on fewer features.
            rows, finer = self.places_in_finer, self.finer
            self.stiffness = sp.csc_matrix(sp.csr_matrix(finer.stiffness[:, rows])[rows])
            self.loads = [sp.csc_matrix(sp.csr_matrix(load)[rows]) for load in finer.loads]
        else:
            self.stiffness, self.loads = self._assembled(float(t), state)
        if state is not None:
            self._keep_linearised(float(t), state)
        self._matrices = {float(t): (self.stiffness, self.loads)}
        self._loads: dict[float, Array] = {}
        self._data_at: dict[float, Array] = {}
        self._source: Array | None = None
        self._steady: Array | None = None
        self._data_before: dict[str, Array] = {}
        self._factorisations: dict[complex, tuple[Callable, int]] = {}
        self._modes: tuple[Array, Array] | None = None
        self._symmetric: bool | None = None

    def _keep_linearised(self, t: float, state: Field) -> None:
        """b̄, c̄ inside and ā, b̄ on the boundary, which the remainder takes off again."""
        count, x = len(self.form.within), self.form.within.x
        around = state[0][:count], state[1][:count]
        self._lower_around = self.laws.lower(x, t, around, self._within)
        self._law_around = self._law(t, self._on_boundary(state))

    @property
    def _within(self) -> Int[Array, " q"] | None:
        """The regions of the nodes inside."""
        where = self.form.where
        return None if where is None else where[: len(self.form.within)]

    def _on_boundary(self, state: Field | None) -> Field | None:
        """The part of a field at all nodes that lies on the boundary."""
        first = len(self.form.x) - len(self.form.boundary)
        return None if state is None else (state[0][first:], state[1][first:])

    def _assembled(self, t: float, state: Field | None) -> tuple[sp.csc_matrix, Loads]:
        """K and the loads of boundary data at time t, around a state if the laws are not linear."""
        x = self.form.x
        found = self.laws.coefficients(x, t, state, self.form.where)
        for part in found.arrays:
            check_finite("The equation's linear part", part, x, t)
        _check_forwards(found.diffusion, x, t)
        if state is not None and found.bent is not None:
            moves = self.laws.conductivity(x, t, state, self.form.where)
            self._flux_around = moves, found.bent
        law, resistance = self._law(t, self._on_boundary(state)), self._resistance()
        return self.form.stiffness(found, law, resistance)

    def _resistance(self) -> Float[Array, "k m"]:
        """R at the nodes of interfaces."""
        found = np.zeros((len(self.form.contact), self.components))
        for name, rows in self.form.contacts.items():
            x = self.form.contact.x[rows]
            found[rows] = self.laws.resistance(name, x)
            check_finite(f"The resistance of {name}", found[rows], x, 0.0, "correct it there")
        return found

    def _law(self, t: float, state: Field | None) -> tuple[Array, Array]:
        """a and b at the nodes of the boundary."""
        a, b = (np.zeros((len(self.form.boundary), self.components)) for _ in range(2))
        for segment, rows in self.form.segments.items():
            where = self._on(rows, state, t)
            parts = np.stack(self.laws.condition(segment, *where), axis=1)
            check_finite(f"The linear part of the condition on {segment}", parts, where[0], t)
            if self.problem.conditions[segment].silent:
                continue
            if self.laws.condition_structures[segment].affine:
                check_condition(segment, parts, t)
            elif not parts.any(axis=1).all():
                raise ProblemError(
                    f"The condition on {segment} does not change with u near a field of the march "
                    f"at t = {t:.6g}, so patches cannot hold it; choose strategy='frozen-features'."
                )
            a[rows], b[rows] = parts[:, 0], parts[:, 1]
        return a, b

    def _on(self, rows: Array, state: Field | None, t: float):
        """Points, normals and time, and a state's value and normal derivative there."""
        x, normal = self.form.boundary.x[rows], self.form.normal[rows]
        if state is None:
            return x, normal, t, None
        along = np.sum(state[1][rows] * normal[:, None], axis=-1)
        return x, normal, t, (state[0][rows], along)

    # Solving.

    def solve(
        self, tau: complex, right: Inexact[Array, "i *k"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, "n *k"]:
        known = self._factorisations
        if tau not in known:
            solver, entries = self._factorised(tau)
            room = KEPT_SHARE * machine_memory() / 8
            while known and entries + sum(n for _, n in known.values()) > room:
                del known[next(iter(known))]
            known[tau] = solver, entries
        return known[tau][0](right)

    def _factorised(self, tau: complex) -> tuple[Callable[[Array], Array], int]:
        """right ↦ (1 + τK)⁻¹ right, and how many numbers that takes."""
        size = self.form.size
        if self.by_modes:
            values, vectors = self.modes
            damped = 1.0 / (1.0 + tau * values)
            return lambda right: vectors @ (damped * (right.T @ vectors)).T, size
        matrix = sp.eye_array(size, format="csc") + tau * self.stiffness
        if size <= DENSE:
            factors = sla.lu_factor(matrix.toarray(), overwrite_a=True, check_finite=False)
            return lambda right: sla.lu_solve(factors, right, check_finite=False), size**2
        if size <= SPARSE:
            options: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
            lu = spla.splu(sp.csc_matrix(matrix), options={"SymmetricMode": True}, **options)
            return lambda right: lu.solve(right.astype(matrix.dtype, copy=False)), lu.nnz
        found = factorised(sp.csc_matrix(matrix), self.dissection, self.symmetric)
        return found.solve, found.entries

    @cached_property
    def dissection(self) -> Dissection:
        """In which order unknowns are eliminated, that of patches whatever their degrees."""
        faces = (*self.patches.inner_faces, *self.patches.interfaces)
        pairs = [np.stack([f.inner, f.outer], axis=1) for f in faces if f.outer is not None]
        sizes = self.patches.table.sizes * self.components
        pairs = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=int)
        return Dissection(self.patches.centre, sizes, pairs)

    @property
    def by_modes(self) -> bool:
        return self.form.size <= DENSE and self.symmetric

    @property
    def symmetric(self) -> bool:
        """Whether K is symmetric: nothing is carried along, components are not coupled."""
        if self._symmetric is None:
            apart = abs(self.stiffness - self.stiffness.T).max()
            self._symmetric = bool(apart <= 1e-10 * abs(self.stiffness).max())
        return self._symmetric

    @property
    def modes(self) -> tuple[Float[Array, " n"], Float[Array, "n n"]]:
        """Eigenvalues and eigenvectors of a symmetric K."""
        if self._modes is None:
            found = np.linalg.eigh(self.stiffness.toarray())
            self._modes = found.eigenvalues, found.eigenvectors
        return self._modes

    # Sources, data and what is not linear.

    def load(self, t: float) -> Float[Array, " n"]:
        """F(t): sources and boundary data."""
        if self.linear and self.finer is not None:
            return self.finer.load(t)[self.places_in_finer]
        if t not in self._loads:
            _keep(self._loads, t, self._load(t, self._matrix(t)[1]))
        return self._loads[t]

    def moved(self, c: Float[Array, " n"]) -> Float[Array, " n"]:
        return self.stiffness @ c

    def _matrix(self, t: float) -> tuple[sp.csc_matrix, Loads]:
        """K and the loads of boundary data at a time, of laws that change with it."""
        if self.constant_matrix or not self.affine:
            return self.stiffness, self.loads
        if t not in self._matrices:
            while len(self._matrices) >= MOST_MATRICES:
                del self._matrices[next(iter(self._matrices))]
            self._matrices[t] = self._assembled(t, None)
        return self._matrices[t]

    def _load(self, t: float, loads: Loads) -> Float[Array, " n"]:
        if self.constant_matrix:
            return self.source(t) + self._boundary(t)
        return self.source(t) + self.form.boundary_load(loads, self.data(t))

    def source(self, t: float) -> Float[Array, " n"]:
        """What sources of a linear equation load the unknowns with."""
        if self._source is None or not self.steady_source:
            x = self.form.within.x
            density = self.laws.density(x, t, where=self._within)
            check_finite("The source", density, x, t)
            self._source = self.form.load(density)
        return self._source

    def data(self, t: float, state: Field | None = None) -> Float[Array, "b m"]:
        """v of the conditions at their nodes; of laws that are not linear, around a state.

        Then what u jumps by at the nodes of interfaces, and what these give off.
        """
        if state is not None:
            return self._data(t, state)
        if self.finer is not None:
            return self.finer.data(t)  # at the same nodes
        if t not in self._data_at:
            _keep(self._data_at, t, self._data(t, None))
        return self._data_at[t]

    def _data(self, t: float, state: Field | None) -> Float[Array, "b m"]:
        v = np.zeros((self.form.data_count, self.components))
        first, count = len(self.form.boundary), len(self.form.contact)
        for name, rows in self.form.contacts.items():
            x = self.form.contact.x[rows]
            for k, part in enumerate(self.laws.contact(name, x, t)):
                check_finite(f"The law of the interface {name}", part, x, t)
                v[first + k * count + rows] = part
        for segment, rows in self.form.segments.items():
            if state is None and self.steady_data[segment] and segment in self._data_before:
                v[rows] = self._data_before[segment]
                continue
            x, normal, _, here = self._on(rows, state, t)
            g = self.laws.residual(segment, x, normal, t, here)
            check_finite(f"The condition on {segment}", g, x, t)
            if here is not None:
                a, b = (part[rows] for part in self._law_around)
                g = g - a * here[0] - b * here[1]
            v[rows] = self._data_before[segment] = -g
        return v

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
        form, x = self.form, self.form.within.x
        value, (drift, reaction) = form.at_nodes(c), self._lower_around
        slope = np.zeros((len(x), self.components, x.shape[1]))
        if self.laws.uses_slope:
            slope = form.at_nodes(c, slopes=True)
        rate = self.laws.density(x, t, (value, slope), self._within)
        check_finite("The equation's right-hand side", rate, x, t)
        rate = rate - (reaction @ value[..., None])[..., 0]
        if self.laws.uses_slope:
            rate = rate - np.einsum("qkmd,qmd->qk", drift, slope)
        load = form.load(rate)
        if self.laws.quasilinear:
            load = load + form.flux_load(self._flux_beyond(c, t))
        if self._affine_conditions:
            return load + self._boundary(t)
        return load + form.boundary_load(self.loads, self.data(t, form.at_boundary(c)))

    def _flux_beyond(self, c: Float[Array, " n"], t: float) -> Float[Array, "q m d"]:
        """(A(u) − Ā)∇u − ᾱu at all nodes."""
        value, slope = state = self.form.at_all(c)
        moves = self.laws.conductivity(self.form.x, t, state, self.form.where)
        check_finite("The equation's diffusion", moves, self.form.x, t)
        around, bent = self._flux_around
        found = ((moves - around) @ slope[..., None])[..., 0]
        return found - np.einsum("nkmd,nm->nkd", bent, value)

    def _boundary(self, t: float) -> Float[Array, " n"]:
        """What the data of linear conditions load, kept as long as they stay."""
        if self._steady is None or not all(self.steady_data.values()):
            self._steady = self.form.boundary_load(self.loads, self.data(t))
        return self._steady

    def fitted(self, field: Callable[[Array], Array], tolerance: float = 0.0) -> Float[Array, " p"]:
        """θ of the L² projection of a field, of one that jumps by lines cut at the jumps."""
        form = self.form
        values = field(form.within.x).reshape(-1, self.components)
        c = form.load(values)
        left, whole = (self._squares(part) for part in (values - form.at_nodes(c), values))
        size, largest = math.sqrt(whole.sum()), np.abs(values).max(axis=0)
        missed = np.flatnonzero(left > (tolerance * size) ** 2).tolist()
        if tolerance and missed and self.problem.domain.dim < 3:  # jumps lie on lines
            places = form.places
            for patch, head in self.patches.projected(field, missed, tolerance, size, largest):
                for k in range(self.components):
                    c[places(np.array([patch]), k)[0]] = head[:, k]
        return self.theta(c)

    def _squares(self, values: Float[Array, "q m"]) -> Float[Array, " p"]:
        """∫v² on each patch, from values at the nodes inside."""
        found = np.zeros(len(self.patches))
        batches = self.patches.batches
        for batch, part in zip(batches, self.form.within.split(values), strict=True):
            found[batch.members] = np.sum(batch.w[..., None] * part**2, axis=(1, 2))
        return found

    # What a resumed march needs.

    def memory(self) -> Arrays:
        return {"time": np.array([self.linearised_at]), "head": self.linearised_around}

    def remember(self, memory: Arrays) -> None:
        t, c = float(memory["time"][0]), memory["head"]
        if t != self.linearised_at or not np.array_equal(c, self.linearised_around):
            self.linearise(t, c)


def _keep(known: dict[float, Array], t: float, values: Array) -> None:
    """Keep the values of a time, and of earlier ones as many as there is room for."""
    while known and (len(known) + 1) * values.size > MOST_KEPT:
        del known[next(iter(known))]
    known[t] = values


def _check_forwards(diffusion: Float[Array, "n m d d"], x: Float[Array, "n d"], t: float) -> None:
    """Stop where A has a negative eigenvalue: tr A/d − ‖A − (tr A/d)·1‖/√2 for d = 1 and 2."""
    if x.shape[1] > 2:
        lowest = np.linalg.eigvalsh((diffusion + np.swapaxes(diffusion, -1, -2)) / 2)[..., 0]
    else:
        mean = np.trace(diffusion, axis1=-2, axis2=-1) / x.shape[1]
        deviator = diffusion - mean[..., None, None] * np.eye(x.shape[1])
        lowest = mean - np.linalg.norm(deviator, axis=(-2, -1)) / math.sqrt(2)
    point, component = np.unravel_index(np.argmin(lowest), lowest.shape)
    if lowest[point, component] < -ROUND_OFF * np.abs(diffusion).max():
        where = ", ".join(f"{coordinate:.6g}" for coordinate in x[point])
        raise ProblemError(
            f"The equation diffuses backwards at t = {t:.6g}, x = ({where}), so that its solution "
            f"would grow without bound at once; change the sign of its diffusion there."
        )
