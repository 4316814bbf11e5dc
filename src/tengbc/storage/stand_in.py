"""A problem as far as a file can hold one: domain, names and formulas as text, but no functions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn, final

import equinox as eqx

from tengbc.conditions import AbstractCondition
from tengbc.equations import AbstractEquation
from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain
from tengbc.problem import Problem
from tengbc.types import Field, Point, Time, Value


@final
class StoredEquation(AbstractEquation):
    """The formula of an equation that is no longer there."""

    text: str = eqx.field(static=True)

    @property
    def formula(self) -> str:
        return self.text

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        _missing("the equation")


@final
class StoredCondition(AbstractCondition):
    """The formula of a condition that is no longer there."""

    text: str = eqx.field(static=True)

    @property
    def formula(self) -> str:
        return self.text

    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        _missing("a boundary condition")


@final
class StoredProblem(Problem):
    """What a file tells of a problem; what would need its functions says so in a sentence."""

    def __init__(
        self,
        domain: Domain,
        shape: tuple[int, ...],
        name: str,
        t_end: float | None,
        rtol: float | None,
        equation: str,
        conditions: Mapping[str, str],
        explanation: str,
    ):
        # Problem's own checks trace the functions, of which there are none.
        self.domain, self.shape, self.name = domain, shape, name
        self.t_end, self.rtol = t_end, rtol
        self.equation = StoredEquation(equation)
        self.conditions = MappingProxyType(
            {segment: StoredCondition(formula) for segment, formula in conditions.items()}
        )
        self.exact_function = self.reference = None
        self._explanation = explanation

    def initial_function(self, x: Point) -> Value:
        """Not in the file."""
        _missing("the initial values")

    def initial(self, x) -> NoReturn:
        """Not in the file."""
        _missing("the initial values")

    def exact(self, x, t: Time) -> NoReturn:
        """Not in the file."""
        _missing("an exact solution")

    def explain(self) -> str:
        """The problem as it was explained when it was saved."""
        return self._explanation


def _missing(what: str) -> NoReturn:
    raise UsageError(
        f"A file holds no Python functions, so {what} is not there; "
        f"pass the problem along: tengbc.load(path, problem=…)."
    )
