"""The numbers of a problem's equation and conditions at points, from its pointwise functions.

An equation of second order is L(u) = A:∇²u + b·∇u + c·u + f where it is linear, or near a state
where it is not; A, b and c are derivatives of L by the second derivatives, the slope and the value.
In divergence form A:∇²u = ∇·(A∇u) − (∇·A)·∇u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tengbc.coefficient import Coefficient
from tengbc.conditions import AbstractCondition, Contact
from tengbc.equations import AbstractEquation, Source
from tengbc.equations.base import LinearTerms, Sum
from tengbc.equations.local import local_rate
from tengbc.errors import ProblemError
from tengbc.geometry.points import BoundaryPoints
from tengbc.patches.form import Coefficients
from tengbc.pointwise import Evaluator
from tengbc.problem import Problem
from tengbc.programs import Vectorised
from tengbc.structure import Structure, structure, uses_time

Array = np.ndarray
TRIALS = 8
"""Points at which laws are tried."""
COUPLED = "couples components, or says less or more than one thing of each"
State = tuple[Float[Array, "n m"], Float[Array, "n m d"]]
"""Values and slopes of a field at points."""
Regions = Int[Array, " n"]
"""The numbers of regions that points count with."""
Trace = tuple[Float[Array, "n m"], Float[Array, "n m"]]
"""Values and normal derivatives of a field on the boundary."""


class Laws:
    """Coefficients, sources and boundary laws of a problem, for arrays of points."""

    def __init__(self, problem: Problem):
        self.problem, self.dim = problem, problem.domain.dim
        self.components = problem.components or 1
        self._equations = [_equation(self, each) for each in problem.equations]
        self._contacts = {name: _Contact(law, self) for name, law in problem.interfaces.items()}
        self._conditions = {name: _law(law, self) for name, law in problem.conditions.items()}

    # The equation.

    def coefficients(
        self,
        x: Float[Array, "n d"],
        t: float,
        state: State | None = None,
        where: Regions | None = None,
    ) -> Coefficients:
        """A, β and c at points; for an equation that is not linear, around a state.

        `where` are the regions that points count with: on an interface that is not known by x.
        """

        def ask(law, x, state):
            found = law.coefficients(x, t, state)
            if self.quasilinear and found.bent is None:
                return *found.arrays, np.zeros_like(found.drift)
            return found.arrays

        return Coefficients(*self._by_region(ask, x, state, where))

    def lower(self, x, t: float, state: State, where: Regions | None = None) -> tuple[Array, Array]:
        """b and c at points around a state."""
        b, c = self._by_region(lambda law, x, state: law.lower(x, t, state), x, state, where)
        return b, c

    def density(
        self,
        x: Float[Array, "n d"],
        t: float,
        state: State | None = None,
        where: Regions | None = None,
    ) -> Float[Array, "n m"]:
        """L without second derivatives: the source, and for a state all lower terms."""
        ask = lambda law, x, state: (law.density(x, t, state),)
        return self._by_region(ask, x, state, where)[0]

    @cached_property
    def quasilinear(self) -> bool:
        """Whether what multiplies second derivatives depends on u."""
        return any(law.quasilinear for law in self._equations)

    def conductivity(
        self, x: Float[Array, "n d"], t: float, state: State, where: Regions | None = None
    ) -> Float[Array, "n m d d"]:
        """That part of A at points which depends on u."""
        ask = lambda law, x, state: (law.conductivity(x, t, state),)
        return self._by_region(ask, x, state, where)[0]

    def _by_region(
        self, ask: Callable, x: Float[Array, "n d"], state: State | None, where: Regions | None
    ) -> tuple[Array, ...]:
        """What the equations of the regions say, each of its own points."""
        if len(self._equations) == 1:
            return ask(self._equations[0], x, state)
        if where is None:
            where = self.problem.domain.region_of(x)  # pyright: ignore[reportAttributeAccessIssue]
        found: list[Array] = []
        for k, law in enumerate(self._equations):
            rows = np.flatnonzero(where == k)
            here = None if state is None else (state[0][rows], state[1][rows])
            parts = ask(law, x[rows], here) if len(rows) else ()
            if not found and parts:
                found = [np.zeros((len(x), *part.shape[1:])) for part in parts]
            for whole, part in zip(found, parts, strict=False):
                whole[rows] = part
        return tuple(found) if found else ask(self._equations[0], x, state)

    def conducted(
        self, x, normal, t: float, state: State, where: Regions | None = None
    ) -> Float[Array, "n m"]:
        """n·A∇u: what second derivatives let in through a boundary."""
        diffusion = self.coefficients(x, t, state, where).diffusion
        return np.einsum("nd,nmde,nme->nm", normal, diffusion, state[1])

    def made_inside(self, x, t: float, state: State) -> Float[Array, "n m"]:
        """L(u) − ∇·(A∇u): all that second derivatives do not bring."""
        divergence = self.lower(x, t, state)[0] - self.coefficients(x, t, state).drift
        return self.density(x, t, state) - np.einsum("nkmd,nmd->nk", divergence, state[1])

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

    # The conditions.

    def condition(self, segment: str, x, normal, t: float, state: Trace | None = None):
        """a and b of a condition at points, (n, m) each; `state` is (value, normal derivative)."""
        return self._conditions[segment].coefficients(x, normal, t, state)

    def residual(self, segment: str, x, normal, t: float, state: Trace | None = None):
        """g on a boundary segment, (n, m); at u = 0 it is −v."""
        return self._conditions[segment].residual(x, normal, t, state)

    # The interfaces.

    def resistance(self, interface: str, x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        """R of an interface at points."""
        return self._contacts[interface].resistance(x)

    def contact(
        self, interface: str, x: Float[Array, "n d"], t: float
    ) -> tuple[Float[Array, "n m"], Float[Array, "n m"]]:
        """What u jumps by at an interface, and what the interface gives off."""
        return self._contacts[interface].data(x, t)

    @cached_property
    def steady_contacts(self) -> dict[str, bool]:
        """Whether the data of interfaces do not change."""
        return {name: law.steady for name, law in self._contacts.items()}

    # What kind of laws they are.

    def _trials(self) -> tuple[list[State], Float[Array, "n m d d"]]:
        """Two fields to try, and second derivatives."""
        m, d, rng = self.components, self.dim, np.random.default_rng(20)
        draw = lambda *shape: rng.uniform(0.1, 1.0, (TRIALS, *shape))
        return [(draw(m), draw(m, d)) for _ in range(2)], draw(m, d, d)

    @cached_property
    def unknown_flux(self) -> str:
        """Why n·A∇u of each component is not what flows; empty if it is."""
        found = (law.refusal(*self._trials()) for law in self._equations)
        return next((reason for reason in found if reason), "")

    @cached_property
    def refusal(self) -> str:
        """Why the weak form does not hold these laws; empty if it does. Found by trying states."""
        states, _ = self._trials()
        if self.unknown_flux:
            return self.unknown_flux
        for segment, law in self._conditions.items():
            reason = law.refusal(self.problem.domain.boundary(segment, TRIALS), states[0])
            if reason:
                return f"the condition on {segment} {reason}"
        return ""

    @cached_property
    def equation_structure(self) -> Structure:
        """Whether the equation is linear, and what of it changes with time."""
        found = [law.structure for law in self._equations]
        every = lambda name: all(getattr(each, name) for each in found)
        return Structure(*map(every, ("affine", "constant_matrix", "constant_offset")))

    @cached_property
    def condition_structures(self) -> dict[str, Structure]:
        """The same for the condition on each segment."""
        return {name: law.structure for name, law in self._conditions.items()}


class _Contact:
    """The law of an interface at points."""

    def __init__(self, law: Contact, laws: Laws):
        self.components = laws.components
        self._parts = [
            Evaluator(c, laws.dim, c.number) for c in (law.resistance, law.jump, law.source)
        ]
        self.steady = not (law.jump.time_dependent or law.source.time_dependent)

    def _at(self, part: Evaluator, x, t: float) -> Float[Array, "n m"]:
        values = part(x, t).reshape(len(x), -1)
        return np.array(np.broadcast_to(values, (len(x), self.components)))

    def resistance(self, x) -> Float[Array, "n m"]:
        found = self._at(self._parts[0], x, 0.0)
        if len(found) and found.min() < 0:
            where = ", ".join(f"{c:.6g}" for c in x[np.argmin(found.min(axis=1))])
            raise ProblemError(
                f"The resistance of an interface is negative at x = ({where}), so that heat would "
                f"flow from cold to hot; correct it there."
            )
        return found

    def data(self, x, t: float) -> tuple[Float[Array, "n m"], Float[Array, "n m"]]:
        jump, source = (self._at(part, x, t) for part in self._parts[1:])
        return jump, source


def _equation(laws: Laws, equation: AbstractEquation) -> _TracedEquation | _LinearEquation | _Bent:
    terms = equation.linear_terms
    if terms is not None:
        return _LinearEquation(laws, terms)
    bent = [term for term in equation.terms if term.conductivity is not None]
    if bent:
        others = tuple(term for term in equation.terms if term.conductivity is None)
        rest = others[0] if len(others) == 1 else Sum(others or (Source(0.0),))
        return _Bent(laws, [term.conductivity for term in bent], _equation(laws, rest))
    return _TracedEquation(laws, equation)


class _Bent:
    """∇·(κ(u)∇u), and other terms."""

    quasilinear = True

    def __init__(self, laws: Laws, kappas: list, rest: _TracedEquation | _LinearEquation | _Bent):
        self.rest, self.kappas = rest, kappas
        self.dim, self.components = laws.dim, laws.components
        self.system = bool(laws.problem.components)
        self._matrices = Vectorised(self._matrix, (0, 0, None))
        self._slopes = Vectorised(jax.jacfwd(self._matrix), (0, 0, None))

    def _matrix(self, value, x, t):
        """κ of each component (m, d, d) at one point."""
        total = jnp.zeros((self.components, self.dim, self.dim))
        for kappa in self.kappas:
            found = kappa(value if self.system else value[0], x, t)
            if found.ndim < 2:
                found = (found * jnp.ones(self.components))[:, None, None] * jnp.eye(self.dim)
            total = total + (found + jnp.swapaxes(found, -1, -2)) / 2
        return total

    def conductivity(self, x, t: float, state: State) -> Float[Array, "n m d d"]:
        return self._matrices(state[0], x, t)

    def coefficients(self, x, t: float, state: State | None) -> Coefficients:
        m = self.components
        if state is None:
            state = np.zeros((len(x), m)), np.zeros((len(x), m, self.dim))
        found = self.rest.coefficients(x, t, state)
        bent = np.einsum("nmdej,nme->nmjd", self._slopes(state[0], x, t), state[1])
        return Coefficients(
            found.diffusion + self.conductivity(x, t, state), found.drift, found.reaction, bent
        )

    def lower(self, x, t: float, state: State) -> tuple[Array, Array]:
        return self.rest.lower(x, t, state)

    def density(self, x, t: float, state: State | None) -> Float[Array, "n m"]:
        return self.rest.density(x, t, state)

    def refusal(self, states: list[State], hessian: Float[Array, "n m d d"]) -> str:
        return self.rest.refusal(states, hessian)

    @property
    def structure(self) -> Structure:
        return replace(self.rest.structure, affine=False)


class _TracedEquation:
    """An equation of any kind.

    Where A depends on u, A:∇²u = ∇·(A∇u) − (∇·A)·∇u − (∂A/∂u·∇u)·∇u, and what is not under the
    divergence counts with the lower terms.
    """

    def __init__(self, laws: Laws, equation: AbstractEquation):
        self.problem, self.dim, self.components = laws.problem, laws.dim, laws.components
        self.equation = equation
        self._rates = Vectorised(self._rate, (0, 0, 0, 0, None))
        self._derivatives = Vectorised(
            jax.jacfwd(self._rate, argnums=(0, 1, 2)), (0, 0, 0, 0, None)
        )
        self._divergence = Vectorised(self._diffusion_divergence, (0, 0, 0, None))
        points = (0, 0, 0, None)
        self._diffusions = Vectorised(self._diffusion, points)
        self._bends = Vectorised(jax.jacfwd(self._flux), points)
        self._lower_rates = Vectorised(self._lower_rate, points)
        self._lower_derivatives = Vectorised(jax.jacfwd(self._lower_rate, argnums=(0, 1)), points)

    def _diffusion(self, value, slope, x, t):
        """A of each component (m, d, d) at one point."""
        flat = jnp.zeros((self.components, self.dim, self.dim))
        found = jax.jacfwd(self._rate, argnums=2)(value, slope, flat, x, t)
        own = jnp.stack([found[k, k] for k in range(self.components)])
        return (own + jnp.swapaxes(own, -1, -2)) / 2

    def _flux(self, value, slope, x, t):
        """A(u)∇u (m, d) at one point."""
        return jnp.einsum("mde,me->md", self._diffusion(value, slope, x, t), slope)

    def _lower_rate(self, value, slope, x, t):
        """L(u) − ∇·(A(u)∇u) at one point."""
        flat = jnp.zeros((self.components, self.dim, self.dim))
        moved = lambda y, v: jnp.einsum("mde,me->md", self._diffusion(v, slope, y, t), slope)
        by_x, by_u = jax.jacfwd(moved, argnums=(0, 1))(x, value)
        spread = jnp.trace(by_x, axis1=-2, axis2=-1) + jnp.einsum("mdj,jd->m", by_u, slope)
        return self._rate(value, slope, flat, x, t) - spread

    def conductivity(self, x, t: float, state: State) -> Float[Array, "n m d d"]:
        if not self.quasilinear:
            return np.zeros((len(x), self.components, self.dim, self.dim))
        return self._diffusions(*state, x, t)

    @cached_property
    def quasilinear(self) -> bool:
        """Whether A depends on u."""
        if self.structure.affine:
            return False
        x, rng = self.problem.domain.interior(TRIALS).x, np.random.default_rng(20)
        m, d = self.components, self.dim
        values, slope = rng.uniform(0.1, 1.0, (2, TRIALS, m)), rng.uniform(0.1, 1, (TRIALS, m, d))
        found = [self._diffusions(value, slope, x, 0.3) for value in values]
        return not np.allclose(*found, rtol=1e-10, atol=1e-12)

    def _rate(self, value, slope, hessian, x, t):
        """L at one point from u, ∇u and ∇²u there; a scalar field is a system of one component."""
        rate = local_rate(self.equation)
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

    def coefficients(self, x, t: float, state: State | None) -> Coefficients:
        if self.quasilinear:
            around = self._nothing(len(x)) if state is None else state
            c, b = self._lower_derivatives(*around, x, t)
            a = self._diffusions(*around, x, t)
            return Coefficients(a, b, c, np.swapaxes(self._bends(*around, x, t), -1, -2))
        if state is None and self.equation.uniform and len(x) > 1:
            return _spread(self.coefficients(x[:1], t, None), len(x))
        c, b, a = self._by_probes(x, t) if state is None else self._by_derivatives(x, t, state)
        a = (a + np.swapaxes(a, -1, -2)) / 2
        if not self.equation.uniform and a.any():
            value, slope = self._nothing(len(x)) if state is None else state
            b = b - self._divergence(value, slope, x, t)
        own = np.arange(self.components)
        return Coefficients(a[:, own, own], b, c)

    def lower(self, x, t: float, state: State) -> tuple[Array, Array]:
        if self.quasilinear:
            c, b = self._lower_derivatives(*state, x, t)
            return b, c
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

    def density(self, x, t: float, state: State | None) -> Float[Array, "n m"]:
        value, slope = self._nothing(len(x)) if state is None else state
        if self.quasilinear:
            return self._lower_rates(value, slope, x, t)
        flat = np.zeros((len(x), self.components, self.dim, self.dim))
        return self._rates(value, slope, flat, x, t)

    def _nothing(self, n: int) -> State:
        return np.zeros((n, self.components)), np.zeros((n, self.components, self.dim))

    def refusal(self, states: list[State], hessian: Float[Array, "n m d d"]) -> str:
        """Why the weak form does not hold the equation; empty if it does."""
        x, m = self.problem.domain.interior(TRIALS).x, self.components
        (value, slope), (_, other) = states
        if self.quasilinear:
            states = [(value, slope), (value, other)]
        derivatives = [self._by_derivatives(x, 0.3, state) for state in states]
        found = [diffusion for _, _, diffusion in derivatives]
        if not np.allclose(*found, rtol=1e-10, atol=1e-12):
            return "its diffusion depends on the slope of u"
        hessian = hessian + np.swapaxes(hessian, -1, -2)
        rates = [self._rates(*states[0], h, x, 0.3) for h in (hessian, 0.0 * hessian)]
        linear = np.einsum("nkmde,nmde->nk", found[0], hessian)
        if not np.allclose(rates[0] - rates[1], linear, rtol=1e-9, atol=1e-12):
            return "it is not linear in the second derivatives of u"
        if m > 1 and found[0][:, ~np.eye(m, dtype=bool)].any():
            return "one component's second derivatives move another"
        still = ~np.any(found[0], axis=(0, 2, 3, 4))
        moved = np.any([drift != 0 for _, drift, _ in derivatives], axis=(0, 1, 4))
        if np.any(moved[still] & ~np.eye(m, dtype=bool)[still]):
            return "its components move each other as waves, which nothing damps between patches"
        return ""

    @cached_property
    def structure(self) -> Structure:
        point = np.mean(self.problem.domain.bounds, axis=0)
        return structure(self.equation.rhs, self.problem.shape, point)


class _LinearEquation:
    """L(u) = Σκ·∇²u − Σv·∇u + Σf + Σ∇·(K∇u), whose coefficients are known."""

    quasilinear = False

    def conductivity(self, x, t: float, state: State) -> Float[Array, "n m d d"]:
        return np.zeros((len(x), self.components, self.dim, self.dim))

    def __init__(self, laws: Laws, terms: LinearTerms):
        self.terms, self.dim, self.components = terms, laws.dim, laws.components
        self._diffusivities, self._velocities, self._sources, self._conductivities = (
            [laws.problem.evaluator(c) for c in each] for each in terms
        )
        self._slopes = [Evaluator(_gradient(c), self.dim) for c in terms.diffusivities]

    def coefficients(self, x, t: float, state: State | None) -> Coefficients:
        terms = self.terms
        multiplied = (*terms.diffusivities, *terms.velocities, *terms.conductivities)
        if len(x) > 1 and all(c.constant for c in multiplied):
            return _spread(self.coefficients(x[:1], t, None), len(x))
        kappa = self._sum(self._diffusivities, x, t, ())
        drift = -self._velocity(x, t)
        for coefficient, slope in zip(self.terms.diffusivities, self._slopes, strict=True):
            if not coefficient.constant:  # κ∇²u = ∇·(κ∇u) − ∇κ·∇u
                drift = drift - self._shaped(slope(x, t), (self.dim,))
        a = kappa[..., None, None] * np.eye(self.dim)
        for conductivity in self._conductivities:
            a = a + self._matrices(conductivity(x, t))
        return Coefficients(a, _own(drift), np.zeros((len(x), self.components, self.components)))

    def _matrices(self, values: Array) -> Float[Array, "n #m d d"]:
        """K of each component, from a number, one for each component, or a matrix."""
        if values.ndim == 3:
            return ((values + np.swapaxes(values, 1, 2)) / 2)[:, None]
        return values.reshape(len(values), -1)[..., None, None] * np.eye(self.dim)

    def lower(self, x, t: float, state: State) -> tuple[Array, Array]:
        drift = _own(-self._velocity(x, t))
        return drift, np.zeros(drift.shape[:-1])

    def density(self, x, t: float, state: State | None) -> Float[Array, "n m"]:
        source = self._sum(self._sources, x, t, ())
        if state is None or not self.terms.velocities:
            return source
        return source - np.sum(self._velocity(x, t) * state[1], axis=-1)

    def _velocity(self, x, t: float) -> Float[Array, "n m d"]:
        return self._sum(self._velocities, x, t, (self.dim,))

    def _sum(self, coefficients, x, t: float, shape: tuple[int, ...]) -> Float[Array, "n m ..."]:
        """The sum of coefficients of that shape at points, for each component."""
        whole = np.zeros((len(x), self.components, *shape))
        return sum((self._shaped(c(x, t), shape) for c in coefficients), start=whole)

    def _shaped(self, values: Array, shape: tuple[int, ...]) -> Float[Array, "n #m ..."]:
        """Values of a coefficient at points, with an axis for the components."""
        return values.reshape(len(values), -1, *shape)

    def refusal(self, states: list[State], hessian: Float[Array, "n m d d"]) -> str:
        return ""

    @cached_property
    def structure(self) -> Structure:
        moving = [
            any(c.time_dependent and uses_time(c, self.dim) for c in each) for each in self.terms
        ]
        return Structure(True, not (moving[0] or moving[1] or moving[3]), not moving[2])


def _gradient(coefficient: Coefficient) -> Callable:
    """∇κ of each component."""
    return lambda x, t: jax.jacfwd(lambda y: coefficient(y, t))(x)


def _own(drift: Float[Array, "n m d"]) -> Float[Array, "n m m d"]:
    """Each component's drift, which moves no other."""
    return drift[:, :, None] * np.eye(drift.shape[1])[:, :, None]


def _spread(found: Coefficients, n: int) -> Coefficients:
    """The coefficients at one point, for n."""
    return Coefficients(*(np.broadcast_to(v, (n, *v.shape[1:])) for v in found.arrays))


def _law(condition: AbstractCondition, laws: Laws):
    coefficients = condition.coefficients
    plain = lambda c: (
        c.constant and (np.ndim(c.value) < 2 or np.shape(c.value)[0] == np.shape(c.value)[1])
    )
    if coefficients is not None and all(map(plain, coefficients[:2])):
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
        found = self._derivatives(x, normal, t, value, along)
        shape = (len(x), self.laws.components)
        result = []
        for part in found:
            own = np.zeros(shape)
            for component, row in self._rows.items():
                own[:, component] = part[:, row, component]
            result.append(own)
        return tuple(result)

    def residual(self, x, normal, t: float, state: Trace | None) -> Float[Array, "n m"]:
        found = self._residual(x, normal, t, *self._state(x, state))
        result = np.zeros((len(x), self.laws.components))
        for component, row in self._rows.items():
            result[:, component] = found[:, row]
        return result

    @cached_property
    def _rows(self) -> dict[int, int]:
        """Which of its rows speaks of a component; of some there may be none."""
        m = self.laws.components
        points = self._points
        count, rng = len(points.x), np.random.default_rng(20)
        state = rng.uniform(0.1, 1.0, (count, m)), rng.uniform(0.1, 1.0, (count, m))
        found = self._derivatives(points.x, points.normal, 0.3, *state)
        if found[0].shape[1:] == (m, m) and all(map(_is_diagonal, found)):
            return {k: k for k in range(m)}
        used = np.any([np.any(part != 0, axis=0) for part in found], axis=0)
        return {
            int(np.flatnonzero(columns)[0]): row
            for row, columns in enumerate(used)
            if columns.any()
        }

    @cached_property
    def _points(self) -> BoundaryPoints:
        (segment,) = (n for n, law in self.laws.problem.conditions.items() if law is self.condition)
        return self.laws.problem.domain.boundary(segment, TRIALS)

    def _state(self, x, state: Trace | None) -> Trace:
        none = np.zeros((len(x), self.laws.components))
        return (none, none) if state is None else state

    def refusal(self, points: BoundaryPoints, state: State) -> str:
        """Why the weak form does not hold the condition; empty if it does."""
        count = min(len(points), len(state[0]))  # on a flat face points are a grid of about so many
        x, normal = points.x[:count], points.normal[:count]
        value, slope = (part[:count] for part in state)
        along = np.sum(slope * normal[:, None], axis=-1)
        fields = (slope, along[..., None] * normal[:, None])
        whole, straight = (self._with_slope(x, normal, 0.3, value, s) for s in fields)
        if not np.allclose(whole, straight, rtol=1e-10, atol=1e-12):
            return "speaks of slopes along the boundary"
        found = self._derivatives(x, normal, 0.3, value, along)
        used = np.any([np.any(part != 0, axis=0) for part in found], axis=0)
        apart = (used.sum(axis=0) <= 1).all() and (used.sum(axis=1) == 1).all()
        return "" if apart or all(_is_diagonal(part) for part in found) else COUPLED

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
        self._data = laws.problem.evaluator(self.v)

    def refusal(self, points: BoundaryPoints, state: State) -> str:
        matrices = (np.asarray(part.value, dtype=float) for part in (self.a, self.b))
        return "" if all(m.ndim < 2 or _is_diagonal(m[None]) for m in matrices) else COUPLED

    def coefficients(self, x, normal, t: float, state: Trace | None):
        shape = (len(x), self.laws.components)
        parts = (_diagonal(part.value, shape[1]) for part in (self.a, self.b))
        return tuple(np.broadcast_to(part, shape) for part in parts)

    def residual(self, x, normal, t: float, state: Trace | None) -> Float[Array, "n m"]:
        found = -self._data(x, t).reshape(len(x), -1)
        found = np.broadcast_to(found, (len(x), self.laws.components))
        if state is None:
            return found
        a, b = self.coefficients(x, normal, t, state)
        return found + a * state[0] + b * state[1]

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
