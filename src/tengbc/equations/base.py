"""What an equation is, how equations add up, and one from a function of one's own."""

import abc
from collections.abc import Callable, Iterable
from typing import NamedTuple

import equinox as eqx

from tengbc.coefficient import Coefficient, check_arguments, real
from tengbc.types import Field, Point, Time, Value


class LinearTerms(NamedTuple):
    """L(u) = Σκ·∇²u − Σv·∇u + Σf + Σ∇·(K∇u), by the coefficients κ, v, f and K."""

    diffusivities: tuple[Coefficient, ...] = ()
    velocities: tuple[Coefficient, ...] = ()
    sources: tuple[Coefficient, ...] = ()
    conductivities: tuple[Coefficient, ...] = ()


class AbstractEquation(eqx.Module):
    """∂ₜu = L(u, x, t): the right-hand side, pointwise, for a scalar field or a system.

    A new equation is one class with `rhs` and `formula`. Equations add: `Heat(0.1) + Source(f)`.
    """

    @abc.abstractmethod
    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        """L(u, x, t) at one point x, with u the field at time t."""

    @property
    @abc.abstractmethod
    def formula(self) -> str:
        """The right-hand side as text."""

    @property
    def uniform(self) -> bool:
        """Whether what multiplies u and its derivatives is known to be the same everywhere."""
        return False

    @property
    def linear_terms(self) -> LinearTerms | None:
        """The coefficients of L, from which nothing has to be traced; None where it is not linear.

        Only what `rhs` says counts: a class with an `rhs` of its own inherits none.
        """
        return None

    @property
    def conductivity(self) -> Callable[[Value, Point, Time], Value] | None:
        """κ(u, x, t) of an equation that is ∇·(κ∇u) and nothing else; None of any other."""
        return None

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "rhs" in vars(cls) and "linear_terms" not in vars(cls):
            setattr(cls, "linear_terms", AbstractEquation.linear_terms)  # noqa: B010

    @property
    def terms(self) -> tuple["AbstractEquation", ...]:
        """Parts that add up to `rhs`, for schemes that treat them differently."""
        return (self,)

    def __add__(self, other: "AbstractEquation") -> "Sum":
        return Sum((self, other)) if isinstance(other, AbstractEquation) else NotImplemented


class Sum(AbstractEquation):
    """∂ₜu = L₁(u, x, t) + L₂(u, x, t) + …"""

    parts: tuple[AbstractEquation, ...]

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        first, *others = (part.rhs(u, x, t) for part in self.parts)
        return sum(others, start=first)

    @property
    def formula(self) -> str:
        return join_terms(part.formula for part in self.parts)

    @property
    def uniform(self) -> bool:
        return all(part.uniform for part in self.parts)

    @property
    def linear_terms(self) -> LinearTerms | None:
        found = [part.linear_terms for part in self.parts]
        if None in found:
            return None
        return LinearTerms(*(sum(each, start=()) for each in zip(*found, strict=True)))

    @property
    def terms(self) -> tuple[AbstractEquation, ...]:
        return tuple(term for part in self.parts for term in part.terms)


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


def join_terms(formulas: Iterable[str]) -> str:
    """Formulas as one sum, a leading minus becoming a difference."""
    return " + ".join(formulas).replace("+ −", "− ")
