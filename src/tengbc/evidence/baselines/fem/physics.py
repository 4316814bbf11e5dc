"""Which terms an equation has, as finite elements need them.

∂ₜu = κ∇²u − v·∇u + f − u Σᵢ∂ᵢu + R(u)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tengbc.coefficient import Coefficient
from tengbc.equations import Heat, Reaction, Source, Transport
from tengbc.equations.burgers import SelfAdvection
from tengbc.errors import UsageError
from tengbc.problem import Problem
from tengbc.types import Value


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
