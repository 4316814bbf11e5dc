"""Local reactions, alone or with diffusion."""

from collections.abc import Callable

from tengbc.coefficient import Coefficient, CoefficientLike, check_arguments, nonnegative
from tengbc.equations.base import AbstractEquation
from tengbc.equations.heat import Heat
from tengbc.fields import laplacian
from tengbc.types import Field, Point, Time, Value


class ReactionDiffusion(AbstractEquation):
    """∂ₜu = D ∇²u + R(u), with R a function of the value u (for a system, of all components).

    D is a number, one number per component, or a function of x or (x, t).
    """

    diffusivity: Coefficient
    reaction: Callable[[Value], Value]

    def __init__(
        self,
        diffusivity: CoefficientLike,
        reaction: Callable[[Value], Value],
    ):
        check_arguments(reaction, "reaction", "u")
        self.diffusivity = nonnegative(diffusivity, "diffusivity")
        self.reaction = reaction

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return self.diffusivity(x, t) * laplacian(u)(x) + self.reaction(u(x))

    @property
    def formula(self) -> str:
        return f"{self.diffusivity.text('D')}·∇²u + R(u)"

    @property
    def terms(self) -> tuple[AbstractEquation, ...]:
        return (Heat(self.diffusivity), Reaction(self.reaction))


class Reaction(AbstractEquation):
    """∂ₜu = R(u)."""

    reaction: Callable[[Value], Value]

    def __init__(self, reaction: Callable[[Value], Value]):
        check_arguments(reaction, "reaction", "u")
        self.reaction = reaction

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return self.reaction(u(x))

    @property
    def formula(self) -> str:
        return "R(u)"
