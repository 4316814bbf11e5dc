"""A condition of one's own."""

from collections.abc import Callable

from tengbc.coefficient import check_arguments, real
from tengbc.conditions.base import AbstractCondition
from tengbc.types import Field, Point, Time, Value


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
