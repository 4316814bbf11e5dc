"""Transport by a velocity field."""

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.equations.base import AbstractEquation, LinearTerms
from tengbc.errors import ProblemError
from tengbc.fields import directional_derivative
from tengbc.types import Field, Point, Time, Value


class Transport(AbstractEquation):
    """∂ₜu = −v·∇u, with v a vector, a function of x or a function of (x, t).

    On an interval v may be a number.
    """

    velocity: Coefficient

    def __init__(self, velocity: CoefficientLike):
        self.velocity = coefficient(velocity, "velocity")

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        velocity = self.velocity(x, t)
        if velocity.shape not in (x.shape, ()) or (velocity.shape == () and x.size > 1):
            raise ProblemError(
                f"velocity has shape {velocity.shape}, but in dimension {x.size} it needs one "
                f"number per axis; give shape {x.shape}."
            )
        return -directional_derivative(u)(x, velocity.reshape(x.shape))

    @property
    def uniform(self) -> bool:
        return self.velocity.constant

    @property
    def linear_terms(self) -> LinearTerms:
        return LinearTerms(velocities=(self.velocity,))

    @property
    def formula(self) -> str:
        return f"−{self.velocity.text('v')}·∇u"
