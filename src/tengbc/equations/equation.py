"""An equation of one's own."""

from collections.abc import Callable

from tengbc.coefficient import check_arguments, real
from tengbc.equations.base import AbstractEquation
from tengbc.types import Field, Point, Time, Value


class Equation(AbstractEquation):
    """∂ₜu = f(u, x, t) from one function, such as `lambda u, x, t: laplacian(u)(x) - u(x) ** 3`."""

    function: Callable[[Field, Point, Time], Value]

    def __init__(self, function: Callable[[Field, Point, Time], Value]):
        check_arguments(function, "the equation's function", "u, x, t")
        self.function = function

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return real(self.function(u, x, t))

    @property
    def formula(self) -> str:
        name = getattr(self.function, "__name__", "<lambda>")
        return f"{'f' if name == '<lambda>' else name}(u, x, t)"
