"""The boundary law a·u + b·∂ₙu = v in weak form.

Where b = 0 the value g = v/a is imposed at the nodes. Elsewhere κ∂ₙu = κ(v − a·u)/b enters the
boundary integral. Without diffusion only the inflow v·n < 0 takes a value, at the nodes too, or if
the flow changes in time through the integral of |v·n|(g − u), since then the inflow moves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from tengbc.conditions import Robin
from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.meshes import FemMesh
from tengbc.evidence.baselines.fem.physics import Physics
from tengbc.evidence.baselines.fem.samples import Computed, Samples, Times, total
from tengbc.evidence.baselines.fem.tabulated import Tabulated, tabulate_facets
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Fixed:
    """Unknowns whose values are prescribed."""

    numbers: Int[Array, " k"]
    values: Computed


@dataclass(frozen=True, eq=False)
class Exchange:
    """The boundary integral ∫ (flux − factor·u) φ."""

    facets: Tabulated
    factor: Computed
    flux: Computed


Parts = tuple[list[Fixed], list[Exchange]]


def boundary_parts(
    problem: Problem, mesh: FemMesh, found: Physics, schedule: Times | None
) -> Parts:
    """Every segment's law; `schedule` lists the times at which it will be asked for."""
    if problem.conditions and found.self_advection and not found.diffusive:
        raise UsageError(
            "Self-advection without diffusion has an inflow that depends on the solution, which "
            "the finite-element solver does not follow; add diffusion or take a periodic domain."
        )
    parts: Parts = ([], [])
    for segment, law in problem.conditions.items():
        if not isinstance(law, Robin):
            raise UsageError(
                f"The finite-element solver does not apply to the condition on {segment} "
                f"({law.formula}); write it as a·u + b·∂ₙu = v, or choose another solver."
            )
        facets = mesh.segments[segment]
        if found.diffusive:
            _diffusive(parts, law, facets, segment, mesh, found, schedule)
        elif found.velocities:
            _inflow(parts, law, facets, segment, mesh, found, schedule)
    return parts


def _diffusive(
    parts: Parts,
    law: Robin,
    facets: Int[Array, " f"],
    segment: str,
    mesh: FemMesh,
    found: Physics,
    schedule: Times | None,
) -> None:
    middles = mesh.nodes[mesh.facet_numbers(facets)[:, 2]]
    given = Samples(law.b, middles)(0.0) == 0
    if given.any() and law.b.time_dependent:
        raise UsageError(
            f"On {segment} b vanishes at t = 0 and depends on time, so the finite-element solver "
            f"cannot tell where values are given; make b a function of x alone."
        )
    fixed, exchanges = parts
    if given.any():
        numbers = np.unique(mesh.facet_numbers(facets[given]))
        fixed.append(Fixed(numbers, _value(law, mesh.nodes[numbers], segment, schedule)))
    if not given.all():
        tabulated = tabulate_facets(mesh, facets[~given])
        kappa = total([Samples(kappa, tabulated.points) for kappa in found.kappas])
        assert kappa is not None
        b = Samples(law.b, tabulated.points)
        factor = Computed(_ratio, kappa, Samples(law.a, tabulated.points), b)
        flux = Computed(_ratio, kappa, Samples(law.v, tabulated.points, schedule), b)
        exchanges.append(Exchange(tabulated, factor, flux))


def _ratio(kappa: Array, numerator: Array, b: Array) -> Array:
    """κ·numerator/b, and nothing at a point of a mixed facet where b = 0."""
    return np.divide(kappa * numerator, b, out=np.zeros_like(b), where=b != 0)


def _value(
    law: Robin, points: Float[Array, "... 2"], segment: str, schedule: Times | None
) -> Computed:
    """v/a, the value that the law prescribes where b = 0."""
    a = Samples(law.a, points)
    if not np.all(a(0.0)):
        raise UsageError(
            f"On {segment} a and b vanish together somewhere, so the condition says nothing there; "
            f"make one of them nonzero."
        )
    return Computed(np.divide, Samples(law.v, points, schedule), a)


def _inflow(
    parts: Parts,
    law: Robin,
    facets: Int[Array, " f"],
    segment: str,
    mesh: FemMesh,
    found: Physics,
    schedule: Times | None,
) -> None:
    tabulated = tabulate_facets(mesh, facets)
    velocity = total([Samples(v, tabulated.points) for v in found.velocities])
    assert velocity is not None

    def inward(v: Float[Array, "e q 2"]) -> Float[Array, "e q"]:
        assert tabulated.normals is not None
        return np.maximum(0.0, -np.sum(v * tabulated.normals, axis=-1))

    factor = Computed(inward, velocity)
    speed = float(np.abs(velocity(0.0)).max())
    entered = (factor(0.0) > 1e-10 * speed).any(axis=1)
    if not factor.time_dependent and not entered.any():
        return  # all of it is outflow: what is prescribed there is redundant
    if not law.b.equals(0):
        raise UsageError(
            f"Transport without diffusion needs a value where the flow enters through {segment}, "
            f"but the condition there is {law.formula}; give a Dirichlet condition."
        )
    fixed, exchanges = parts
    if factor.time_dependent:
        value = _value(law, tabulated.points, segment, schedule)
        exchanges.append(Exchange(tabulated, factor, Computed(np.multiply, factor, value)))
    else:
        # Upwinded test functions are stable with values at the nodes, not with the integral.
        numbers = np.unique(mesh.facet_numbers(facets[entered]))
        fixed.append(Fixed(numbers, _value(law, mesh.nodes[numbers], segment, schedule)))
