"""Which terms an equation has, as finite elements need them.

∂ₜu = κ∇²u − v·∇u + f − u Σᵢ∂ᵢu + R(u)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from tengbc.coefficient import Coefficient, coefficient
from tengbc.equations import Heat, Reaction, Source, Transport
from tengbc.equations.burgers import SelfAdvection
from tengbc.errors import UsageError
from tengbc.problem import Problem
from tengbc.types import Value


@dataclass(frozen=True)
class Physics:
    """The coefficients of an equation; None where a term is absent."""

    kappa: Coefficient | None
    velocity: Coefficient | None
    source: Coefficient | None
    self_advection: bool
    reactions: tuple[Callable[[Value], Value], ...]

    @property
    def diffusive(self) -> bool:
        """Whether there is any diffusion."""
        return self.kappa is not None and not self.kappa.equals(0)

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
        kappa=_total([term.kappa for term in terms if isinstance(term, Heat)]),
        velocity=_total([term.velocity for term in terms if isinstance(term, Transport)]),
        source=_total([term.f for term in terms if isinstance(term, Source)]),
        self_advection=any(isinstance(term, SelfAdvection) for term in terms),
        reactions=tuple(term.reaction for term in terms if isinstance(term, Reaction)),
    )


def combined(function: Callable[..., Value], *parts: Coefficient) -> Coefficient:
    """function(c₁, c₂, …) of coefficients: constant, in space or in time as these are."""
    depends = max((part.arguments for part in parts), key=len, default=())
    if len(depends) == 2:
        return coefficient(lambda x, t: function(*(part(x, t) for part in parts)), "combined")
    if len(depends) == 1:
        return coefficient(lambda x: function(*(part(x, 0.0) for part in parts)), "combined")
    with jax.enable_x64(True):
        values = [jnp.asarray(part.value, dtype=float) for part in parts]
        return coefficient(function(*values), "combined")


def slope(c: Coefficient) -> Coefficient | None:
    """∇c, or None for a constant."""
    if c.constant:
        return None
    if c.time_dependent:
        return coefficient(lambda x, t: jax.grad(lambda y: c(y, t))(x), "slope")
    return coefficient(lambda x: jax.grad(lambda y: c(y, 0.0))(x), "slope")


def _total(parts: Sequence[Coefficient]) -> Coefficient | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    return combined(lambda *values: jnp.sum(jnp.stack(values), axis=0), *parts)


def drift(found: Physics) -> Coefficient | None:
    """The velocity w of −w·∇u, where κ∇²u = ∇·(κ∇u) − ∇κ·∇u adds to the transport."""
    gradient = None if found.kappa is None else slope(found.kappa)
    return _total([part for part in (found.velocity, gradient) if part is not None])
