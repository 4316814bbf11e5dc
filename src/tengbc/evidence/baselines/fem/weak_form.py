"""Equation and boundary conditions as finite elements need them.

    ∂ₜu = κ∇²u − v·∇u + f − u Σᵢ∂ᵢu + R(u),   a·u + b·∂ₙu = v on the boundary.

Where b = 0 the value g = v/a is imposed at the nodes. Elsewhere κ∂ₙu = κ(v − a·u)/b enters the
boundary integral. Without diffusion only the inflow v·n < 0 takes a value, at the nodes too, or if
the flow changes in time through the integral of |v·n|(g − u), since then the inflow moves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tengbc.coefficient import Coefficient
from tengbc.conditions import AbstractCondition
from tengbc.equations import Heat, Reaction, Source, Transport
from tengbc.equations.burgers import SelfAdvection
from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.meshes import FemMesh
from tengbc.evidence.baselines.fem.samples import Computed, Samples, Schedule, total
from tengbc.evidence.baselines.fem.tabulated import Tabulated, tabulate_facets
from tengbc.problem import Problem
from tengbc.types import Value

Array = np.ndarray
Law = tuple[Coefficient, Coefficient, Coefficient]
"""a, b and v."""


@dataclass(frozen=True)
class Physics:
    """The coefficients of an equation; those of like terms add up."""

    kappas: tuple[Coefficient, ...]
    velocities: tuple[Coefficient, ...]
    sources: tuple[Coefficient, ...]
    self_advection: bool
    reactions: tuple[Callable[[Value], Value], ...]

    @property
    def diffusive(self) -> bool:
        """Whether there is any diffusion."""
        return any(not kappa.equals(0) for kappa in self.kappas)

    @property
    def nonlinear(self) -> bool:
        """Whether u itself decides how u changes."""
        return self.self_advection or bool(self.reactions)


def physics(problem: Problem) -> Physics:
    """The terms of a problem's equation, or a UsageError where finite elements do not apply."""
    if problem.components:
        raise UsageError(
            f"The finite-element solver takes a scalar field, and this problem is a system of "
            f"{problem.components}; choose another solver."
        )
    terms = problem.equation.terms
    kinds = (Heat, Transport, Source, SelfAdvection, Reaction)
    for term in terms:
        if not isinstance(term, kinds):
            raise UsageError(
                f"The finite-element solver does not apply to {type(term).__name__} "
                f"({term.formula}), whose weak form it cannot know; write the equation as a sum of "
                f"Heat, Transport, Burgers, Source and Reaction terms, or choose another solver."
            )
    return Physics(
        kappas=tuple(term.kappa for term in terms if isinstance(term, Heat)),
        velocities=tuple(term.velocity for term in terms if isinstance(term, Transport)),
        sources=tuple(term.f for term in terms if isinstance(term, Source)),
        self_advection=any(isinstance(term, SelfAdvection) for term in terms),
        reactions=tuple(term.reaction for term in terms if isinstance(term, Reaction)),
    )


class Fixed(NamedTuple):
    """Unknowns whose values are prescribed."""

    numbers: Int[Array, " k"]
    values: Computed


class Exchange(NamedTuple):
    """The boundary integral ∫ (flux − factor·u) φ."""

    facets: Tabulated
    factor: Computed
    flux: Computed


class BoundaryForm:
    """Every segment's condition in weak form: `fixed` values, and `exchanges` through the boundary.

    `schedule` lists the times at which it will be asked for.
    """

    def __init__(self, problem: Problem, mesh: FemMesh, found: Physics, schedule: Schedule | None):
        if problem.conditions and found.self_advection and not found.diffusive:
            raise UsageError(
                "Self-advection without diffusion has an inflow that depends on the solution, "
                "which the finite-element solver does not follow; add diffusion or take a "
                "periodic domain."
            )
        self.fixed: list[Fixed] = []
        self.exchanges: list[Exchange] = []
        self._mesh, self._physics, self._schedule = mesh, found, schedule
        for segment, condition in problem.conditions.items():
            law = condition.coefficients
            if law is None:
                raise UsageError(
                    f"The finite-element solver does not apply to the condition on {segment} "
                    f"({condition.formula}); write it as a·u + b·∂ₙu = v, or choose another solver."
                )
            if found.diffusive:
                self._diffuse(segment, law)
            elif found.velocities:
                self._flow_in(segment, law, condition)

    def _diffuse(self, segment: str, law: Law) -> None:
        mesh, facets, (a, b, v) = self._mesh, self._mesh.segments[segment], law
        middles = mesh.nodes[mesh.facet_numbers(facets)[:, 2]]
        given = Samples(b, middles)(0.0) == 0
        if given.any() and b.time_dependent:
            raise UsageError(
                f"On {segment} b vanishes at t = 0 and depends on time, so the finite-element "
                f"solver cannot tell where values are given; make b a function of x alone."
            )
        if given.any():
            self._fix(segment, law, facets[given])
        if not given.all():
            table = tabulate_facets(mesh, facets[~given])
            kappa = total([Samples(kappa, table.points) for kappa in self._physics.kappas])
            assert kappa is not None
            below = Samples(b, table.points)
            factor = Computed(_ratio, kappa, Samples(a, table.points), below)
            flux = Computed(_ratio, kappa, Samples(v, table.points, self._schedule), below)
            self.exchanges.append(Exchange(table, factor, flux))

    def _flow_in(self, segment: str, law: Law, condition: AbstractCondition) -> None:
        facets = self._mesh.segments[segment]
        table = tabulate_facets(self._mesh, facets)
        velocity = total([Samples(v, table.points) for v in self._physics.velocities])
        assert velocity is not None

        def inward(v: Float[Array, "e q 2"]) -> Float[Array, "e q"]:
            assert table.normals is not None
            return np.maximum(0.0, -np.sum(v * table.normals, axis=-1))

        factor = Computed(inward, velocity)
        speed = float(np.abs(velocity(0.0)).max())
        entered = (factor(0.0) > 1e-10 * speed).any(axis=1)
        if not factor.time_dependent and not entered.any():
            return  # all of it is outflow: what is prescribed there is redundant
        if not condition.prescribes_value:
            raise UsageError(
                f"Transport without diffusion needs a value where the flow enters through "
                f"{segment}, but the condition there is {condition.formula}; give a Dirichlet "
                f"condition."
            )
        if factor.time_dependent:
            value = self._value(segment, law, table.points)
            self.exchanges.append(Exchange(table, factor, Computed(np.multiply, factor, value)))
        else:
            # Upwinded test functions are stable with values at the nodes, not with the integral.
            self._fix(segment, law, facets[entered])

    def _fix(self, segment: str, law: Law, facets: Int[Array, " f"]) -> None:
        numbers = np.unique(self._mesh.facet_numbers(facets))
        self.fixed.append(Fixed(numbers, self._value(segment, law, self._mesh.nodes[numbers])))

    def _value(self, segment: str, law: Law, points: Float[Array, "... 2"]) -> Computed:
        """v/a, the value that the law prescribes where b = 0."""
        a = Samples(law[0], points)
        if not np.all(a(0.0)):
            raise UsageError(
                f"On {segment} a and b vanish together somewhere, so the condition says nothing "
                f"there; make one of them nonzero."
            )
        return Computed(np.divide, Samples(law[2], points, self._schedule), a)


def _ratio(kappa: Array, numerator: Array, b: Array) -> Array:
    """κ·numerator/b, and nothing at a point of a mixed facet where b = 0."""
    return np.divide(kappa * numerator, b, out=np.zeros_like(b), where=b != 0)
