"""A source term, to be added to an equation."""

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.equations.base import AbstractEquation, LinearTerms
from tengbc.types import Field, Point, Time, Value


class Source(AbstractEquation):
    """∂ₜu = f, with f a number or a function of x or (x, t): `Heat(0.1) + Source(f)`.

    Where the domain has regions, f may be given for some of them, `Source({"core": 5.0})`, and is
    zero in the others.
    """

    f: Coefficient

    def __init__(self, f: CoefficientLike):
        self.f = coefficient(f, "the source f", missing=0.0)

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return self.f(x, t)

    @property
    def uniform(self) -> bool:
        return True

    @property
    def linear_terms(self) -> LinearTerms:
        return LinearTerms(sources=(self.f,))

    @property
    def formula(self) -> str:
        return self.f.text("f")
