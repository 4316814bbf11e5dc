"""Heat conduction."""

from tengbc.coefficient import Coefficient, CoefficientLike, nonnegative
from tengbc.equations.base import AbstractEquation, LinearTerms
from tengbc.fields import laplacian
from tengbc.types import Field, Point, Time, Value


class Heat(AbstractEquation):
    """∂ₜu = κ ∇²u.

    κ is a number, a function of x or a function of (x, t); for a system also one number per
    component. A κ that varies stands before the Laplacian; for ∇·(κ∇u) see `Diffusion`.
    """

    kappa: Coefficient

    def __init__(self, kappa: CoefficientLike):
        self.kappa = nonnegative(kappa, "kappa")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return self.kappa(x, t) * laplacian(u)(x)

    @property
    def uniform(self) -> bool:
        return self.kappa.constant

    @property
    def linear_terms(self) -> LinearTerms:
        return LinearTerms(diffusivities=(self.kappa,))

    @property
    def formula(self) -> str:
        return f"{self.kappa.text('κ')}·∇²u"
