"""A problem as far as a file holds one: domain, names and formulas as text, but no functions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn, final

import equinox as eqx
import numpy as np

from tengbc import problems
from tengbc.conditions import AbstractCondition
from tengbc.equations import AbstractEquation
from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain
from tengbc.problem import Problem, explained
from tengbc.storage.checksummed import plain
from tengbc.storage.codec import decode, encode
from tengbc.types import Field, Point, Time, Value

COMPARED_POINTS = 8
"""Points at which initial values are compared, to know a benchmark problem again."""


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

    def __init__(self, content: Mapping[str, Any], shape: tuple[int, ...]):
        # Problem's own checks trace the functions, of which there are none.
        self.domain, self.shape = decode(content["domain"], Domain), shape
        self.name, self.t_end, self.rtol = (content[key] for key in ("name", "t_end", "rtol"))
        self.equation = StoredEquation(content["equation"])
        formulas = content["conditions"].items()
        self.conditions = MappingProxyType({name: StoredCondition(text) for name, text in formulas})
        self.exact_function = self.reference = None
        self._described = [(label, text) for label, text in content["described"]]

    def initial_function(self, x: Point) -> Value:
        """Not in the file."""
        _missing("the initial values")

    def initial(self, x) -> NoReturn:
        """Not in the file."""
        _missing("the initial values")

    def exact(self, x, t: Time) -> NoReturn:
        """Not in the file."""
        _missing("an exact solution")

    def described(self) -> list[tuple[str, str]]:
        """The problem as it was described when it was saved."""
        return self._described

    def explain(self) -> str:
        """The same as text: how it would be solved is not known without its functions."""
        return explained(self.described())


def describe_problem(problem: Problem) -> dict[str, Any]:
    """Its domain and numbers, its formulas as text, and a few initial values to know it by."""
    stored = isinstance(problem, StoredProblem)
    points = problem.domain.interior(COMPARED_POINTS).x
    return {
        "name": problem.name,
        "domain": encode(problem.domain),
        "t_end": plain(problem.t_end),
        "rtol": plain(problem.rtol),
        "equation": problem.equation.formula,
        "conditions": {name: law.formula for name, law in problem.conditions.items()},
        "described": [list(item) for item in problem.described()],
        "initial": [] if stored else plain(problem.initial(points)),
    }


def restore_problem(
    content: dict[str, Any], shape: tuple[int, ...], given: Problem | None
) -> Problem:
    """The problem the user gives, the benchmark of that name, or a stand-in without functions."""
    if given is not None:
        if encode(given.domain) != content["domain"] or given.shape != shape:
            raise UsageError(
                f"The problem passed is a field of shape {given.shape} on {given.domain!r}, and "
                f"the file holds another; pass the problem that was solved."
            )
        return given
    if content["name"] in problems.CATALOG:
        benchmark = problems.get(content["name"])
        if _alike(describe_problem(benchmark), content):
            return benchmark
    return StoredProblem(content, shape)


def _alike(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether a user's problem that bears a benchmark's name is that benchmark."""
    if any(ours[name] != theirs[name] for name in ("domain", "equation", "conditions")):
        return False
    first, second = (np.array(content["initial"], dtype=float) for content in (ours, theirs))
    # Another machine may round otherwise.
    return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-9, atol=1e-12))


def _missing(what: str) -> NoReturn:
    raise UsageError(
        f"A file holds no Python functions, so {what} is not there; "
        f"pass the problem along: tengbc.load(path, problem=…)."
    )
