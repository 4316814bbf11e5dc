"""The semi-discrete problem M u' = f(t) − K(t) u + N(u) in NGSolve's words.

    ∂ₜu = κ∇²u − v·∇u + f + R(u),   a·u + b·∂ₙu = v on the boundary.

Where b = 0 the value v/a is imposed, elsewhere κ∂ₙu = κ(v − a·u)/b enters the boundary integral.
Without diffusion a value holds where the flow comes in, through the integral of |v·n|(g − u).
Functions of the problem are translated (`symbolic.py`), so NGSolve evaluates formulas of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse
from jaxtyping import Bool, Float

from tengbc.coefficient import Coefficient
from tengbc.equations import Heat, Reaction, Source, Transport
from tengbc.errors import UsageError
from tengbc.evidence.baselines.hpfem.symbolic import (
    Formula,
    coefficient_function,
    is_number,
    ngsolve,
)
from tengbc.problem import Problem

Array = np.ndarray
Sparse = scipy.sparse.csr_matrix
Load = Callable[[float], Float[Array, " n"]]
ROUGH = 12
"""Degrees by which the initial values are integrated more exactly than the elements ask for: they
may jump."""


class HpSystem:
    """Matrices and loads of a problem on a mesh with elements of an order.

    A system of m components has m copies of the space; a scalar field has one.
    """

    def __init__(self, problem: Problem, mesh: Any, order: int):
        self.ngs = ngs = ngsolve()
        self.problem, self.mesh, self.order = problem, mesh, order
        self.dim, self.copies = problem.domain.dim, max(1, problem.components)
        self.time = ngs.Parameter(0.0)
        self._place = np.array([ngs.x, ngs.y][: self.dim], dtype=object)
        self._collect()
        valued = [s for s in problem.domain.segments if self._fixes(s)]
        single = ngs.H1(mesh, order=order, dirichlet="|".join(valued))
        self.space = single if self.copies == 1 else ngs.FESpace([single] * self.copies)
        trial, test = self.space.TnT()
        self._trial = [trial] if self.copies == 1 else list(trial)
        self._test = [test] if self.copies == 1 else list(test)
        self.field = ngs.GridFunction(self.space)
        self.free: Bool[Array, " n"] = np.array(list(self.space.FreeDofs()), dtype=bool)
        self._fixed = [self._fixed_part(segment) for segment in valued]
        self._loads: list[Load] = []
        self.matrix_changes = False
        self._forms()
        self.mass = self._assembled(sum(u * v for u, v in self._pairs) * ngs.dx)
        self._kept = None if self.matrix_changes else self._matrix()
        self.nonlinear = bool(self._reactions)
        self._prepare_reactions()

    @property
    def unknowns(self) -> int:
        """Degrees of freedom."""
        return len(self.free)

    def matrix(self, t: float) -> Sparse:
        """K(t)."""
        if self._kept is not None:
            return self._kept
        self.time.Set(t)
        return self._matrix()

    def load(self, t: float) -> Float[Array, " n"]:
        """f(t)."""
        total = np.zeros(self.unknowns)
        for load in self._loads:
            total += load(t)
        return total

    def prescribed(self, t: float) -> Float[Array, " n"]:
        """A vector with the prescribed values at time t, zero elsewhere."""
        total = np.zeros(self.unknowns)
        for dofs, values in self._fixed:
            total[dofs] = values(t)[dofs]
        return total

    def reaction(self, u: Float[Array, " n"]) -> Float[Array, " n"]:
        """N(u) tested with every basis function."""
        self.field.vec.FV().NumPy()[:] = u
        self._reaction_form.Assemble()
        return self._reaction_form.vec.FV().NumPy().copy()

    def reaction_slope(self, u: Float[Array, " n"]) -> Sparse:
        """N'(u)."""
        self.field.vec.FV().NumPy()[:] = u
        self._slope_form.Assemble()
        return _csr(self._slope_form.mat)

    def initial(self) -> Float[Array, " n"]:
        """(u₀, φ) for every basis function φ."""
        initial = Formula(self.problem.initial_function, (self.dim,))(self._place)
        terms = zip(self._each(initial), self._test, strict=True)
        dx = self.ngs.dx(bonus_intorder=ROUGH)
        return self._vector(sum(self._cf(value) * v for value, v in terms) * dx)

    def values(self, u: Float[Array, " n"], places: Any) -> Float[Array, "p ..."]:
        """u at mapped points."""
        self.field.vec.FV().NumPy()[:] = u
        if not self.problem.components:
            return np.asarray(self.field(places)).ravel()
        parts = [self.field] if self.copies == 1 else self.field.components
        return np.stack([np.asarray(part(places)).ravel() for part in parts], axis=1)

    def _collect(self) -> None:
        """Sort the terms of the equation."""
        terms = self.problem.equation.terms
        for term in terms:
            if not isinstance(term, Heat | Transport | Source | Reaction):
                raise UsageError(
                    f"The contender hp-fem does not know the weak form of {type(term).__name__} "
                    f"({term.formula}); write the equation as a sum of Heat, Transport, Source and "
                    f"Reaction terms, or choose another solver."
                )
        self._kappas = [term.kappa for term in terms if isinstance(term, Heat)]
        self._flows = [term.velocity for term in terms if isinstance(term, Transport)]
        self._sources = [term.f for term in terms if isinstance(term, Source)]
        self._reactions = [term.reaction for term in terms if isinstance(term, Reaction)]
        self._diffusive = any(not kappa.equals(0) for kappa in self._kappas)

    def _law(self, segment: str) -> tuple[Coefficient, Coefficient, Coefficient]:
        law = self.problem.conditions[segment].coefficients
        if law is None:
            raise UsageError(
                f"The contender hp-fem takes conditions a·u + b·∂ₙu = v, and the one on {segment} "
                f"is not of that form; choose another solver."
            )
        return law

    def _fixes(self, segment: str) -> bool:
        return self._law(segment)[1].equals(0) and self._diffusive

    @property
    def _pairs(self) -> list[tuple[Any, Any]]:
        return list(zip(self._trial, self._test, strict=True))

    def _value(self, c: Coefficient) -> Array:
        if c.constant:
            return np.asarray(c.value).astype(object)
        return Formula(c, (self.dim,), ())(self._place, np.array(self.time, dtype=object))

    def _each(self, value: Array) -> list[Any]:
        """One entry for each component."""
        if np.ndim(value) > 1:
            raise UsageError("The contender hp-fem does not take matrices as coefficients.")
        return list(np.broadcast_to(np.asarray(value, dtype=object), (self.copies,)))

    def _cf(self, value: Any) -> Any:
        return float(value) if is_number(value) else coefficient_function(value)

    def _forms(self) -> None:
        """The bilinear form, term by term, and the loads."""
        ngs, grad = self.ngs, self.ngs.grad
        dx = ngs.dx
        parts: list[Any] = []
        kappa = [0.0] * self.copies
        for c in self._kappas:
            self.matrix_changes |= c.time_dependent
            entries = [self._cf(item) for item in self._each(self._value(c))]
            kappa = [old + new for old, new in zip(kappa, entries, strict=True)]
            parts += [
                k * grad(u) * grad(v) * dx for k, (u, v) in zip(entries, self._pairs, strict=True)
            ]
            if not c.constant:  # κ∇²u = ∇·(κ∇u) − ∇κ·∇u
                slope = Formula(jax.grad(c), (self.dim,), ())(
                    self._place, np.array(self.time, dtype=object)
                )
                parts += [coefficient_function(slope) * grad(u) * v * dx for u, v in self._pairs]
        for c in self._flows:
            self.matrix_changes |= c.time_dependent
            flow = self._cf_vector(self._value(c))
            parts += [flow * grad(u) * v * dx for u, v in self._pairs]
        for c in self._sources:
            self._loads.append(self._timed(c, dx, [1.0] * self.copies))
        for segment in self.problem.domain.segments:
            if not self._fixes(segment):
                parts += self._boundary(segment, kappa)
        self._parts = parts

    def _cf_vector(self, value: Array) -> Any:
        return coefficient_function(np.broadcast_to(value, (self.dim,)))

    def _boundary(self, segment: str, kappa: list[Any]) -> list[Any]:
        """Exchange through a segment: what is in proportion to u; the rest becomes a load."""
        ngs, (a, b, v) = self.ngs, self._law(segment)
        ds = ngs.ds(segment)
        self.matrix_changes |= a.time_dependent or b.time_dependent
        if b.equals(0):  # no diffusion: values come in with the flow
            normal = ngs.specialcf.normal(self.dim)
            flows = [self._cf_vector(self._value(c)) * normal for c in self._flows]
            rate = sum(flows, start=ngs.CF(0.0))
            inflow = ngs.IfPos(rate, 0.0, -rate)
            level = self._value(a)
            weights = [inflow / self._cf(item) for item in self._each(level)]
            self._loads.append(self._timed(v, ds, weights))
            return [inflow * u * w * ds for u, w in self._pairs]
        factors = [
            k / self._cf(item) for k, item in zip(kappa, self._each(self._value(b)), strict=True)
        ]
        if not v.equals(0):
            changing = b.time_dependent or any(c.time_dependent for c in self._kappas)
            self._loads.append(self._timed(v, ds, factors, changing))
        if a.equals(0):
            return []
        levels = [self._cf(item) for item in self._each(self._value(a))]
        return [
            factor * level * u * w * ds
            for factor, level, (u, w) in zip(factors, levels, self._pairs, strict=True)
        ]

    def _timed(
        self, c: Coefficient, measure: Any, weights: list[Any], changing: bool = False
    ) -> Load:
        """∫ c·weight·φ as a function of time."""
        amplitude = None if changing else self._amplitude(c)
        if amplitude is not None:
            unit = sum(w * v for w, v in zip(weights, self._test, strict=True)) * measure
            vector = self._vector(unit)
            return lambda t: amplitude(t) * vector
        entries = [self._cf(item) for item in self._each(self._value(c))]
        form = self.ngs.LinearForm(self.space)
        form += (
            sum(e * w * v for e, w, v in zip(entries, weights, self._test, strict=True)) * measure
        )
        if not (c.time_dependent or changing):
            form.Assemble()
            steady = form.vec.FV().NumPy().copy()
            return lambda t: steady

        def assembled(t: float) -> Array:
            self.time.Set(t)
            form.Assemble()
            return form.vec.FV().NumPy()

        return assembled

    def _amplitude(self, c: Coefficient) -> Callable[[float], float] | None:
        """c as a function of time alone, if it is one and has one component."""
        if not c.time_dependent:
            return None
        formula = Formula(c, (self.dim,), ())
        try:
            value = formula(self._place, 0.3)
        except UsageError:
            return None
        if np.ndim(value) or not is_number(value):
            return None
        return lambda t: float(formula(self._place, t))

    def _fixed_part(self, segment: str) -> tuple[Bool[Array, " n"], Callable[[float], Array]]:
        """The unknowns of a segment, and their values in time."""
        region = self.mesh.Boundaries(segment)
        dofs = np.array(list(self.space.GetDofs(region)), dtype=bool)
        a, _, v = self._law(segment)
        holder = self.ngs.GridFunction(self.space)

        def projected(value: Array) -> Array:
            """v/a on the segment; interpolated in the space of the boundary."""
            levels = self._each(self._value(a))
            parts = [holder] if self.copies == 1 else holder.components
            for part, item, level in zip(parts, self._each(value), levels, strict=True):
                part.Set(self.ngs.CF(self._cf(item) / self._cf(level)), definedon=region)
            return holder.vec.FV().NumPy().copy()

        if not (v.time_dependent or a.time_dependent):
            steady = projected(self._value(v))
            return dofs, lambda t: steady
        amplitude = None if a.time_dependent else self._amplitude(v)
        if amplitude is not None:
            unit = projected(np.array(1.0, dtype=object))
            return dofs, lambda t: amplitude(t) * unit
        moving = self._value(v)

        def at(t: float) -> Array:
            self.time.Set(t)
            return projected(moving)

        return dofs, at

    def _prepare_reactions(self) -> None:
        if not self.nonlinear:
            return
        ngs, shape = self.ngs, self.problem.shape
        total = lambda u: sum(jnp.asarray(reaction(u), dtype=float) for reaction in self._reactions)
        parts = [self.field] if self.copies == 1 else list(self.field.components)
        now = np.array(parts[0] if not shape else parts, dtype=object)
        dx = ngs.dx(bonus_intorder=self.order)
        self._reaction_form = ngs.LinearForm(self.space)
        rates = self._each(Formula(total, shape)(now))
        self._reaction_form += (
            sum(self._cf(rate) * v for rate, v in zip(rates, self._test, strict=True)) * dx
        )
        slopes = np.reshape(Formula(jax.jacfwd(total), shape)(now), (self.copies, self.copies))
        self._slope_form = ngs.BilinearForm(self.space)
        self._slope_form += (
            sum(
                self._cf(slopes[i, j]) * self._trial[j] * self._test[i]
                for i in range(self.copies)
                for j in range(self.copies)
            )
            * dx
        )

    def _matrix(self) -> Sparse:
        return self._assembled(*self._parts)

    def _assembled(self, *parts: Any) -> Sparse:
        form = self.ngs.BilinearForm(self.space)
        for part in parts:
            form += part
        form.Assemble()
        return _csr(form.mat)

    def _vector(self, integrand: Any) -> Float[Array, " n"]:
        form = self.ngs.LinearForm(self.space)
        form += integrand
        form.Assemble()
        return form.vec.FV().NumPy().copy()


def _csr(matrix: Any) -> Sparse:
    values, columns, rows = matrix.CSR()
    shape = (matrix.height, matrix.width)
    parts = (np.array(values), np.array(columns), np.array(rows))
    return scipy.sparse.csr_matrix(parts, shape=shape)
