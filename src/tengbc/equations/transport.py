"""Transport by a velocity field."""

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.equations.base import AbstractEquation
from tengbc.fields import directional_derivative
from tengbc.types import Field, Point, Time, Value


class Transport(AbstractEquation):
    """∂ₜu = −v·∇u, with v a vector, a function of x or a function of (x, t)."""

    velocity: Coefficient

    def __init__(self, velocity: CoefficientLike):
        self.velocity = coefficient(velocity, "velocity")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return -directional_derivative(u)(x, self.velocity(x, t))

    @property
    def formula(self) -> str:
        return f"−{self.velocity.text('v')}·∇u"
