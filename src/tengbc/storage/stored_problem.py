"""A problem as far as a file holds one: domain, numbers and formulas as text, but no functions.

Ready-made equations and conditions come back as themselves, with their numbers; a problem made of
nothing else is whole again. In the place of a function stands a sentence that says it is missing.
"""

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NoReturn, final

import equinox as eqx
import numpy as np

from tengbc import conditions, equations, problems
from tengbc.coefficient import Coefficient, coefficient
from tengbc.conditions import AbstractCondition, Contact
from tengbc.equations import AbstractEquation
from tengbc.equations.base import Sum
from tengbc.equations.regional import Regional
from tengbc.errors import CheckpointError, UsageError
from tengbc.geometry.domain import Domain
from tengbc.naming import naming
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
        self.untraced = ()
        self.domain, self.shape = decode(content["domain"], Domain), shape
        self.name, self.t_end, self.rtol = (content[key] for key in ("name", "t_end", "rtol"))
        equation, self.conditions, _ = _laws(content)
        self.equation = self._as_equation(equation)
        laws = _interfaces(content)[0] or dict.fromkeys(self.domain.interfaces, Contact())
        self.interfaces = MappingProxyType(laws)
        self.naming = naming(**_named(content), components=self.components)
        self.exact_function = self.reference = None
        self.initial_table = None
        self._content = content
        self._described = [(label, text) for label, text in content["described"]]

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredProblem, (self._content, self.shape)

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


READY: dict[str, type] = {
    name: kind
    for module in (equations, conditions)
    for name, kind in {**vars(module), "Sum": Sum}.items()
    if isinstance(kind, type) and issubclass(kind, AbstractEquation | AbstractCondition | Contact)
}
"""Equations and conditions that a file holds by name."""
OWN = ("Equation", "Condition")
"""Those that are one function: only their formula is kept."""


def _numbers(part: Any) -> Any:
    """An equation, a condition or a coefficient in terms of JSON, functions by a mark only."""
    if isinstance(part, tuple | list):
        return [_numbers(entry) for entry in part]
    if isinstance(part, Coefficient):
        value = {} if part.arguments else {"value": plain(np.asarray(part.value).tolist())}
        return {"kind": "Coefficient", "arguments": list(part.arguments)} | value
    name = type(part).__name__
    if isinstance(part, Regional):
        pairs = zip(part.names, part.parts, strict=True)
        return {"kind": "regions", "parts": {name: _numbers(each) for name, each in pairs}}
    if isinstance(part, AbstractEquation | AbstractCondition | Contact):
        if READY.get(name) is not type(part) or name in OWN:
            kind = "equation" if isinstance(part, AbstractEquation) else "condition"
            return {"kind": kind, "formula": part.formula}
        fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        return {"kind": name} | {field: _numbers(entry) for field, entry in fields.items()}
    return {"kind": "function"}


def _part(content: Any) -> tuple[Any, bool]:
    """What `_numbers` described, and whether it is whole."""
    if isinstance(content, list):
        found = [_part(entry) for entry in content]
        return tuple(part for part, _ in found), all(whole for _, whole in found)
    kind = content["kind"]
    if kind == "regions":
        found = {name: _part(entry) for name, entry in content["parts"].items()}
        return {name: p for name, (p, _) in found.items()}, all(w for _, w in found.values())
    if kind == "Coefficient":
        if content["arguments"]:
            return Coefficient(_function, tuple(content["arguments"])), False
        return coefficient(content["value"], "a stored coefficient"), True
    if kind == "function":
        return _function, False
    if kind in ("equation", "condition"):
        stored = StoredEquation if kind == "equation" else StoredCondition
        return stored(content["formula"]), False
    fields = {name: _part(entry) for name, entry in content.items() if name != "kind"}
    if kind not in READY or kind in OWN:
        raise CheckpointError(f"it holds a {kind!r}, which is not known here; use another copy.")
    part = READY[kind](**{name: part for name, (part, _) in fields.items()})
    return part, all(whole for _, whole in fields.values())


def _function(x) -> NoReturn:
    _missing("a function of it")


def _interfaces(content: Mapping[str, Any]) -> tuple[dict[str, Contact], bool]:
    """The laws of interfaces, and whether all of them are there."""
    parts = content.get("parts", {}).get("interfaces", {})
    found = {name: _part(law) for name, law in parts.items()}
    return {n: law for n, (law, _) in found.items()}, all(there for _, there in found.values())


def _laws(content: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], bool]:
    """Equation (or those of regions) and conditions as far as they are there; whether all are."""
    parts = content.get("parts")
    if parts is None:  # a file of an earlier version has formulas only
        laws = {name: StoredCondition(text) for name, text in content["conditions"].items()}
        return StoredEquation(content["equation"]), MappingProxyType(laws), False
    equation, whole = _part(parts["equation"])
    found = {name: _part(law) for name, law in parts["conditions"].items()}
    laws = MappingProxyType({name: law for name, (law, _) in found.items()})
    return equation, laws, whole and all(there for _, there in found.values())


def describe_problem(problem: Problem) -> dict[str, Any]:
    """Its domain and numbers, its formulas as text, and a few initial values to know it by."""
    stored = isinstance(problem, StoredProblem)
    parts = {
        "equation": _numbers(problem.equation),
        "conditions": {name: _numbers(law) for name, law in problem.conditions.items()},
        "interfaces": {name: _numbers(law) for name, law in problem.interfaces.items()},
        "initial": {"kind": "function"} if stored else _numbers(problem.initial_coefficient),
    }
    points = problem.domain.interior(COMPARED_POINTS).x
    return {
        "name": problem.name,
        "domain": encode(problem.domain),
        "t_end": plain(problem.t_end),
        "rtol": plain(problem.rtol),
        "names": list(problem.naming.names),
        "units": dict(problem.naming.units),
        "equation": problem.equation.formula,
        "conditions": {name: law.formula for name, law in problem.conditions.items()},
        "described": [list(item) for item in problem.described()],
        "initial": [] if stored else plain(problem.initial(points)),
        "parts": parts,
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
    equation, laws, whole = _laws(content)
    contacts, known = _interfaces(content)
    initial, there = _part(content.get("parts", {}).get("initial", {"kind": "function"}))
    if whole and there and known:
        named = {name: content[name] for name in ("name", "t_end", "rtol")} | _named(content)
        domain = decode(content["domain"], Domain)
        return Problem(domain, equation, laws, initial, **named, interfaces=contacts)
    return StoredProblem(content, shape)


def _named(content: Mapping[str, Any]) -> dict[str, Any]:
    """Names and units; files of earlier versions have none."""
    return {"names": tuple(content.get("names", ())) or None, "units": content.get("units")}


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
