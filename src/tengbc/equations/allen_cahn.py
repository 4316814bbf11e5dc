"""The Allen–Cahn equation: diffusion against a double well."""

from tengbc.coefficient import Coefficient, CoefficientLike, nonnegative
from tengbc.equations.base import AbstractEquation
from tengbc.equations.heat import Heat
from tengbc.equations.reaction_diffusion import Reaction
from tengbc.fields import laplacian
from tengbc.types import Field, Point, Time, Value


class AllenCahn(AbstractEquation):
    """∂ₜu = D ∇²u + u − u³; D is often written ε²."""

    diffusivity: Coefficient

    def __init__(self, diffusivity: CoefficientLike):
        self.diffusivity = nonnegative(diffusivity, "diffusivity")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return self.diffusivity(x, t) * laplacian(u)(x) + double_well(u(x))

    @property
    def formula(self) -> str:
        return f"{self.diffusivity.text('D')}·∇²u + u − u³"

    @property
    def terms(self) -> tuple[AbstractEquation, ...]:
        return (Heat(self.diffusivity), Reaction(double_well))


def double_well(u: Value) -> Value:
    """u − u³, minus the slope of the well (1 − u²)²/4."""
    return u - u**3
