"""The boundary law a·u + b·∂ₙu = v in weak form.

Where b = 0 the value v/a is imposed at the nodes. Elsewhere κ∂ₙu = κ(v − a·u)/b enters the boundary
integral. Without diffusion only the inflow v·n < 0 takes a value, through the integral of
|v·n|(g − u).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tengbc.baselines.fem.meshes import FemMesh
from tengbc.baselines.fem.physics import Physics, combined
from tengbc.baselines.fem.samples import Samples, Times
from tengbc.baselines.fem.tabulated import Tabulated, tabulate_facets
from tengbc.coefficient import Coefficient
from tengbc.conditions import Robin
from tengbc.errors import UsageError
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Fixed:
    """Unknowns whose values are prescribed."""

    numbers: Int[Array, " k"]
    values: Samples


@dataclass(frozen=True, eq=False)
class Exchange:
    """The boundary integral ∫ (flux − factor·u) φ."""

    facets: Tabulated
    factor: Callable[[float], Float[Array, "e q"]]
    flux: Callable[[float], Float[Array, "e q"]]
    factor_changes: bool
    flux_changes: bool


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
        elif found.velocity is not None:
            _inflow(parts[1], law, facets, segment, mesh, found.velocity, schedule)
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
        value = combined(lambda v, a: v / a, law.v, law.a)
        fixed.append(Fixed(numbers, Samples(value, mesh.nodes[numbers], schedule)))
    if not given.all():
        assert found.kappa is not None
        tabulated = tabulate_facets(mesh, facets[~given])
        factor = combined(_ratio, found.kappa, law.a, law.b)
        flux = combined(_ratio, found.kappa, law.v, law.b)
        exchanges.append(
            Exchange(
                tabulated,
                Samples(factor, tabulated.points),
                Samples(flux, tabulated.points, schedule),
                factor.time_dependent,
                flux.time_dependent,
            )
        )


def _ratio(kappa: Array, numerator: Array, b: Array):
    """κ·numerator/b, and nothing at a point of a mixed facet where b = 0."""
    return jnp.where(b == 0, 0.0, kappa * numerator / jnp.where(b == 0, 1.0, b))


def _inflow(
    exchanges: list[Exchange],
    law: Robin,
    facets: Int[Array, " f"],
    segment: str,
    mesh: FemMesh,
    velocity: Coefficient,
    schedule: Times | None,
) -> None:
    tabulated = tabulate_facets(mesh, facets)
    at_points = Samples(velocity, tabulated.points)

    def inward(t: float) -> Float[Array, "e q"]:
        assert tabulated.normals is not None
        return np.maximum(0.0, -np.einsum("eqd,eqd->eq", at_points(t), tabulated.normals))

    if not velocity.time_dependent and not inward(0.0).any():
        return  # all of it is outflow: what is prescribed there is redundant
    if not law.b.equals(0):
        raise UsageError(
            f"Transport without diffusion needs a value where the flow enters through {segment}, "
            f"but the condition there is {law.formula}; give a Dirichlet condition."
        )
    value = Samples(combined(lambda v, a: v / a, law.v, law.a), tabulated.points, schedule)
    exchanges.append(
        Exchange(
            tabulated,
            inward,
            lambda t: inward(t) * value(t),
            velocity.time_dependent,
            velocity.time_dependent or value.time_dependent,
        )
    )
