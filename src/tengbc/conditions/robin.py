"""The one linear law that Dirichlet, Neumann and Robin conditions share."""

import jax.numpy as jnp
import numpy as np
from jax import Array

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.conditions.base import AbstractCondition
from tengbc.errors import UsageError
from tengbc.fields import normal_derivative
from tengbc.types import Field, Point, Time, Value


class Robin(AbstractCondition):
    """a·u + b·∂ₙu = v, with ∂ₙ along the outward normal.

    a, b and v are numbers, functions of x or functions of (x, t). For a system with m components
    v may be a vector, and a and b numbers, vectors (one per component) or matrices of shape (k, m),
    which give k conditions: `a=[[1.0, 0.0]]` speaks of the first component only.
    With a = 1, b = 0 and v the target value this is the row of an interior point.
    """

    a: Coefficient
    b: Coefficient
    v: Coefficient

    def __init__(
        self,
        a: CoefficientLike,
        b: CoefficientLike,
        v: CoefficientLike,
    ):
        self.a = coefficient(a, "a")
        self.b = coefficient(b, "b")
        self.v = coefficient(v, "v")
        if self.a.equals(0) and self.b.equals(0):
            raise UsageError(
                "a·u + b·∂ₙu = v with a = b = 0 says nothing about u; make a or b nonzero."
            )

    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        total = -self.v(x, t)
        if not self.a.equals(0):
            total = total + _times(self.a(x, t), u(x))
        if not self.b.equals(0):
            total = total + _times(self.b(x, t), normal_derivative(u)(x, normal))
        return total

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient, Coefficient]:
        return self.a, self.b, self.v

    @property
    def parted(self) -> bool:
        shapes = [np.shape(part.value) for part in (self.a, self.b) if part.constant]
        return any(len(shape) == 2 and shape[0] < shape[1] for shape in shapes)

    @property
    def formula(self) -> str:
        v = self.v.text("v")
        if self.a.equals(1) and self.b.equals(0):
            return f"u = {v}"
        if self.a.equals(0) and self.b.equals(1):
            return f"∂ₙu = {v}"
        return f"{self.a.text('a')}·u + {self.b.text('b')}·∂ₙu = {v}".replace("+ −", "− ")


def Dirichlet(v: CoefficientLike) -> Robin:
    """u = v, with v a number, a function of x or a function of (x, t)."""
    return Robin(a=1.0, b=0.0, v=v)


def Neumann(v: CoefficientLike) -> Robin:
    """∂ₙu = v along the outward normal, with v a number, a function of x or of (x, t)."""
    return Robin(a=0.0, b=1.0, v=v)


def _times(factor: Array, value: Value) -> Value:
    """A matrix acts on all components; a number or a vector multiplies each by its own."""
    return jnp.matmul(factor, value) if factor.ndim == 2 else factor * value
