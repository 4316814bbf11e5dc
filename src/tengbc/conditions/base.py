"""What a boundary condition is, and one from a function of one's own."""

import abc
from collections.abc import Callable

import equinox as eqx

from tengbc.coefficient import Coefficient, check_arguments, real
from tengbc.types import Field, Point, Time, Value


class AbstractCondition(eqx.Module):
    """g(u, x, n, t) = 0 on a boundary segment.

    A new condition is one class with `residual` and `formula`. The fit makes g small together with
    the misfit in the interior; g may be nonlinear in u, because only its linearisation is used.
    """

    @abc.abstractmethod
    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        """g at one boundary point x with outward unit normal, a scalar or a vector."""

    @property
    @abc.abstractmethod
    def formula(self) -> str:
        """The condition as text, such as "u = 0"."""

    @property
    def coefficients(self) -> tuple[Coefficient, Coefficient, Coefficient] | None:
        """(a, b, v) of a·u + b·∂ₙu = v; None where the condition is not of that form."""
        return None

    @property
    def silent(self) -> bool:
        """Whether it imposes nothing."""
        return False

    @property
    def parted(self) -> bool:
        """Whether it may speak of some components only."""
        return False

    @property
    def prescribes_value(self) -> bool:
        """Whether only u itself enters, not its slope."""
        return self.coefficients is not None and self.coefficients[1].equals(0)


class Condition(AbstractCondition):
    """g(u, x, n, t) = 0 from one function, linear in u or not, scalar or vector.

    Radiation, for one: `lambda u, x, normal, t: normal_derivative(u)(x, normal) + u(x) ** 4`.
    """

    function: Callable[[Field, Point, Point, Time], Value]

    def __init__(self, residual: Callable[[Field, Point, Point, Time], Value]):
        check_arguments(residual, "the condition's residual", "u, x, normal, t")
        self.function = residual

    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        return real(self.function(u, x, normal, t))

    @property
    def formula(self) -> str:
        name = getattr(self.function, "__name__", "<lambda>")
        return f"{'g' if name == '<lambda>' else name}(u, x, n, t) = 0"
