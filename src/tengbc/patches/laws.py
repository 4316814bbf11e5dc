"""The numbers of a problem's equation and conditions at points, from its pointwise functions.

An equation of second order is L(u) = A:∇²u + b·∇u + c·u + f where it is linear, or near a state
where it is not; A, b and c are derivatives of L by the second derivatives, the slope and the value.
In divergence form A:∇²u = ∇·(A∇u) − (∇·A)·∇u.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.coefficient import Coefficient
from tengbc.conditions import AbstractCondition
from tengbc.equations.local import local_rate
from tengbc.geometry.points import BoundaryPoints
from tengbc.patches.form import Coefficients
from tengbc.problem import Problem
from tengbc.programs import Vectorised
from tengbc.structure import Structure, structure

Array = np.ndarray
TRIALS = 8
"""Points at which laws are tried."""
COUPLED = "couples components, or says less or more than one thing of each"
State = tuple[Float[Array, "n m"], Float[Array, "n m d"]]
"""Values and slopes of a field at points."""
Trace = tuple[Float[Array, "n m"], Float[Array, "n m"]]
"""Values and normal derivatives of a field on the boundary."""


class Laws:
    """Coefficients, sources and boundary laws of a problem, for arrays of points."""

    def __init__(self, problem: Problem):
        self.problem, self.dim = problem, problem.domain.dim
        self.components = problem.components or 1
        self._rates = Vectorised(self._rate, (0, 0, 0, 0, None))
        self._derivatives = Vectorised(
            jax.jacfwd(self._rate, argnums=(0, 1, 2)), (0, 0, 0, 0, None)
        )
        self._divergence = Vectorised(self._diffusion_divergence, (0, 0, 0, None))
        self._conditions = {name: _law(law, self) for name, law in problem.conditions.items()}

    # The equation.

    def _rate(self, value, slope, hessian, x, t):
        """L at one point from u, ∇u and ∇²u there; a scalar field is a system of one component."""
        rate = local_rate(self.problem.equation)
        if self.problem.components:
            return rate(value, slope, hessian, x, t)
        return jnp.reshape(rate(value[0], slope[0], hessian[0], x, t), (1,))

    def _diffusion_divergence(self, value, slope, x, t):
        """∇·A (m, m, d) at one point."""

        def diffusion(x):
            flat = jnp.zeros((self.components, self.dim, self.dim))
            found = jax.jacfwd(self._rate, argnums=2)(value, slope, flat, x, t)
            return (found + jnp.swapaxes(found, -1, -2)) / 2

        return jnp.trace(jax.jacfwd(diffusion)(x), axis1=-2, axis2=-1)

    def coefficients(
        self, x: Float[Array, "n d"], t: float, state: State | None = None
    ) -> Coefficients:
        """A, β and c at points; for an equation that is not linear, around a state."""
        if state is None and self.problem.equation.uniform and len(x) > 1:
            found = self.coefficients(x[:1], t)
            arrays = (found.diffusion, found.drift, found.reaction)
            return Coefficients(*(np.broadcast_to(v, (len(x), *v.shape[1:])) for v in arrays))
        c, b, a = self._by_probes(x, t) if state is None else self._by_derivatives(x, t, state)
        a = (a + np.swapaxes(a, -1, -2)) / 2
        if not self.problem.equation.uniform and a.any():
            value, slope = self._nothing(len(x)) if state is None else state
            b = b - self._divergence(value, slope, x, t)
        own = np.arange(self.components)
        return Coefficients(a[:, own, own], b, c)

    def lower(self, x, t: float, state: State) -> tuple[Array, Array]:
        """b and c at points around a state."""
        c, b, _ = self._by_derivatives(x, t, state)
        return b, c

    def _by_derivatives(self, x, t: float, state: State) -> list[Array]:
        """∂L by u, ∇u and ∇²u."""
        flat = np.zeros((len(x), self.components, self.dim, self.dim))
        return list(self._derivatives(*state, flat, x, t))

    def _by_probes(self, x, t: float) -> list[Array]:
        """The same of a linear equation: its values for fields of one derivative each."""
        n, m, d = len(x), self.components, self.dim
        kinds = [(m,), (m, d), (m, d, d)]
        probes = [np.eye(int(np.prod(kind))).reshape(-1, *kind) for kind in kinds]
        count = 1 + sum(map(len, probes))
        parts, first = [], 1
        for probe, kind in zip(probes, kinds, strict=True):
            fields = np.zeros((count, *kind))
            fields[first : first + len(probe)] = probe
            parts.append(np.repeat(fields, n, axis=0))
            first += len(probe)
        rates = self._rates(*parts, np.tile(x, (count, 1)), t).reshape(count, n, m)
        found = np.moveaxis(rates[1:] - rates[0], 0, -1)
        ends = np.cumsum([len(probe) for probe in probes])[:-1]
        split = np.split(found, ends, axis=-1)
        return [part.reshape(n, m, *kind) for part, kind in zip(split, kinds, strict=True)]

    def density(
        self, x: Float[Array, "n d"], t: float, state: State | None = None
    ) -> Float[Array, "n m"]:
        """L without second derivatives: the source, and for a state all lower terms."""
        value, slope = self._nothing(len(x)) if state is None else state
        flat = np.zeros((len(x), self.components, self.dim, self.dim))
        return self._rates(value, slope, flat, x, t)

    @cached_property
    def uses_slope(self) -> bool:
        """Whether ∇u stands in the equation's lower terms, found by changing it."""
        rng = np.random.default_rng(20)
        x = self.problem.domain.interior(8).x
        value, slope = (
            rng.uniform(0.1, 1, (8, self.components)),
            rng.normal(size=(8, self.components, self.dim)),
        )
        return bool(
            np.any(
                self.density(x, 0.3, (value, slope)) != self.density(x, 0.3, (value, 0.0 * slope))
            )
        )

    def _nothing(self, n: int) -> State:
        return np.zeros((n, self.components)), np.zeros((n, self.components, self.dim))

    # The conditions.

    def condition(self, segment: str, x, normal, t: float, state: Trace | None = None):
        """a and b of a condition at points, (n, m) each; `state` is (value, normal derivative)."""
        return self._conditions[segment].coefficients(x, normal, t, state)

    def residual(self, segment: str, x, normal, t: float, state: Trace | None = None):
        """g on a boundary segment, (n, m); at u = 0 it is −v."""
        return self._conditions[segment].residual(x, normal, t, state)

    # What kind of laws they are.

    @cached_property
    def refusal(self) -> str:
        """Why the weak form does not hold these laws; empty if it does. Found by trying states."""
        m, d, rng = self.components, self.dim, np.random.default_rng(20)
        x = self.problem.domain.interior(TRIALS).x
        draw = lambda *shape: rng.uniform(0.1, 1.0, (TRIALS, *shape))
        states = [(draw(m), draw(m, d)) for _ in range(2)]
        found = [self._by_derivatives(x, 0.3, state)[2] for state in states]
        if not np.allclose(*found, rtol=1e-10, atol=1e-12):
            return "its diffusion depends on u"
        hessian = draw(m, d, d)
        hessian = hessian + np.swapaxes(hessian, -1, -2)
        rates = [self._rates(*states[0], h, x, 0.3) for h in (hessian, 0.0 * hessian)]
        linear = np.einsum("nkmde,nmde->nk", found[0], hessian)
        if not np.allclose(rates[0] - rates[1], linear, rtol=1e-9, atol=1e-12):
            return "it is not linear in the second derivatives of u"
        if m > 1 and found[0][:, ~np.eye(m, dtype=bool)].any():
            return "one component's second derivatives move another"
        for segment, law in self._conditions.items():
            reason = law.refusal(self.problem.domain.boundary(segment, TRIALS), states[0])
            if reason:
                return f"the condition on {segment} {reason}"
        return ""

    @cached_property
    def equation_structure(self) -> Structure:
        """Whether the equation is linear, and what of it changes with time."""
        point = np.mean(self.problem.domain.bounds, axis=0)
        return structure(self.problem.equation.rhs, self.problem.shape, point)

    @cached_property
    def condition_structures(self) -> dict[str, Structure]:
        """The same for the condition on each segment."""
        return {name: law.structure for name, law in self._conditions.items()}


def _law(condition: AbstractCondition, laws: Laws):
    coefficients = condition.coefficients
    if coefficients is not None and all(c.constant for c in coefficients[:2]):
        return _PlainLaw(condition, laws, coefficients)
    return _TracedLaw(condition, laws)


class _TracedLaw:
    """A condition of any kind."""

    def __init__(self, condition: AbstractCondition, laws: Laws):
        self.condition, self.laws = condition, laws
        self._residual = Vectorised(self._at_point, (0, 0, None, 0, 0))
        self._derivatives = Vectorised(
            jax.jacfwd(self._at_point, argnums=(3, 4)), (0, 0, None, 0, 0)
        )

    def _at_point(self, x, normal, t, value, along):
        """g for a field of that value and normal derivative."""
        field = lambda z: value + along * jnp.dot(z - x, normal)
        u = field if self.laws.problem.components else lambda z: field(z)[0]
        return jnp.reshape(self.condition.residual(u, x, normal, t), (-1,))

    def coefficients(self, x, normal, t: float, state: Trace | None):
        value, along = self._state(x, state)
        own = np.arange(self.laws.components)
        found = self._derivatives(x, normal, t, value, along)
        return tuple(part[:, own, own] for part in found)

    def residual(self, x, normal, t: float, state: Trace | None) -> Float[Array, "n m"]:
        return self._residual(x, normal, t, *self._state(x, state))

    def _state(self, x, state: Trace | None) -> Trace:
        none = np.zeros((len(x), self.laws.components))
        return (none, none) if state is None else state

    def refusal(self, points: BoundaryPoints, state: State) -> str:
        """Why the weak form does not hold the condition; empty if it does."""
        x, normal, count = points.x, points.normal, len(points)
        value, slope = (part[:count] for part in state)
        along = np.sum(slope * normal[:, None], axis=-1)
        fields = (slope, along[..., None] * normal[:, None])
        whole, straight = (self._with_slope(x, normal, 0.3, value, s) for s in fields)
        if not np.allclose(whole, straight, rtol=1e-10, atol=1e-12):
            return "speaks of slopes along the boundary"
        found = self._derivatives(x, normal, 0.3, value, along)
        return "" if all(_is_diagonal(part) for part in found) else COUPLED

    @cached_property
    def _with_slope(self) -> Vectorised:
        def residual(x, normal, t, value, slope):
            field = lambda z: value + slope @ (z - x)
            u = field if self.laws.problem.components else lambda z: field(z)[0]
            return jnp.reshape(self.condition.residual(u, x, normal, t), (-1,))

        return Vectorised(residual, (0, 0, None, 0, 0))

    @cached_property
    def structure(self) -> Structure:
        domain, shape = self.laws.problem.domain, self.laws.problem.shape
        point, normal = np.mean(domain.bounds, axis=0), np.zeros(domain.dim)
        normal[0] = 1.0
        law: Callable = lambda u, x, n, t: self.condition.residual(u, x, n, t)
        return structure(law, shape, point, normal)


class _PlainLaw(_TracedLaw):
    """a·u + b·∂ₙu = v with numbers a and b: nothing has to be derived."""

    def __init__(self, condition: AbstractCondition, laws: Laws, law: tuple[Coefficient, ...]):
        super().__init__(condition, laws)
        self.a, self.b, self.v = law

    def refusal(self, points: BoundaryPoints, state: State) -> str:
        matrices = (np.asarray(part.value, dtype=float) for part in (self.a, self.b))
        return "" if all(m.ndim < 2 or _is_diagonal(m[None]) for m in matrices) else COUPLED

    def coefficients(self, x, normal, t: float, state: Trace | None):
        shape = (len(x), self.laws.components)
        parts = (_diagonal(part.value, shape[1]) for part in (self.a, self.b))
        return tuple(np.broadcast_to(part, shape) for part in parts)

    def residual(self, x, normal, t: float, state: Trace | None) -> Float[Array, "n m"]:
        v = self.v
        if state is None and v.constant:
            return np.broadcast_to(
                -np.asarray(v.value, dtype=float), (len(x), self.laws.components)
            )
        return super().residual(x, normal, t, state)

    @cached_property
    def structure(self) -> Structure:
        return Structure(True, True, not self.v.time_dependent)


def _is_diagonal(matrices: Float[Array, "n k m"]) -> bool:
    """Whether each component has one condition, of its own."""
    rows, columns = matrices.shape[1:]
    return rows == columns and not matrices[:, ~np.eye(rows, dtype=bool)].any()


def _diagonal(value, components: int) -> Array:
    """The coefficient of each component: of a number, a vector, or a matrix's diagonal."""
    array = np.asarray(value, dtype=float)
    return np.diagonal(array) if array.ndim == 2 else np.broadcast_to(array, (components,))
