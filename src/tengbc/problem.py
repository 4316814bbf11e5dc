"""A problem: domain, equation, one condition per boundary segment, initial values."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import jax
import numpy as np
from jaxtyping import Float

from tengbc.coefficient import Coefficient, CoefficientLike, check_arguments, coefficient
from tengbc.conditions import AbstractCondition, Condition, Contact, Together
from tengbc.equations import AbstractEquation, Equation
from tengbc.equations.regional import Regional, divided, regional_function
from tengbc.errors import ProblemError, UsageError
from tengbc.naming import naming
from tengbc.options import options
from tengbc.pointwise import Evaluator
from tengbc.programs import Vectorised
from tengbc.reference import Reference
from tengbc.shapes import field_shape
from tengbc.types import Point, Time, Value
from tengbc.untraced import Untraced, numeric

if TYPE_CHECKING:
    from tengbc.geometry.domain import Domain
    from tengbc.tables import Table

ConditionLike: TypeAlias = (
    AbstractCondition | Callable[..., Value] | Sequence[AbstractCondition | Callable[..., Value]]
)
"""What a user may write: a condition, a residual function, or several of these."""
Part = TypeVar("Part", AbstractEquation, AbstractCondition, Coefficient, Contact)


class Problem:
    """∂ₜu = L(u, x, t) in a domain, a condition on each boundary segment, u(x, 0) given.

    **Arguments:**

    - `domain`: a domain; its `segments` name the parts of the boundary.
    - `equation`: an equation, or a function of (u, x, t) that gives its right-hand side.
    - `conditions`: for each segment a condition, a residual function of (u, x, normal, t), or a
      list of these.
    - `initial`: u(x, 0), a function of x, a number, or for a system one number per component; or a
      table: an array of values on a grid over the domain's box, its ends too, in the order
      [x, y, …], on an interval of 12 or more; (points, values); an xarray DataArray.
    - `interfaces`: where regions of the domain meet, such as `{"core|rest": Contact(0.1)}`; by
      default u and the flux are continuous there. On a domain with regions `equation` may be a
      mapping, too, with an equation for each, and so may `initial`.
    - `exact`: the solution as a function of (x, t), if known; `reference`: stored values, if not.
    - `name`: a short name. `t_end`: the final time, if the problem has a natural one. `rtol`: the
      relative error it is usually solved to.
    - `names` of the components, such as ("temperature", "concentration"), and `units` as text, such
      as {"temperature": "K", "x": "m", "t": "s"}: for pictures, files and reports.

    All functions are pointwise jax.numpy code. Those of x and t alone (initial and boundary values,
    sources, coefficients) may be anything that gives numbers: NumPy, tables, `if`.
    """

    def __init__(
        self,
        domain: Domain,
        equation: AbstractEquation | Callable[..., Value] | Mapping[str, Any],
        conditions: Mapping[str, ConditionLike],
        initial: Any,
        exact: Callable[[Point, Time], Value] | None = None,
        name: str = "",
        t_end: int | float | None = None,
        reference: Reference | None = None,
        rtol: float | None = None,
        names: str | Sequence[str] | None = None,
        units: Mapping[str, str] | None = None,
        interfaces: Any = None,
    ):
        self.domain = _as_domain(domain)
        self.reference = reference
        self.name = name
        checked = options(t_end=t_end, rtol=rtol)
        self.t_end, self.rtol = checked.t_end, checked.rtol
        laws = _as_conditions(conditions, domain.segments)
        self.untraced: tuple[str, ...] = ()
        """What is no jax.numpy code, so that it is called with numbers."""
        self.equation = self._as_equation(equation)
        self.interfaces = MappingProxyType(
            {
                name: self._evaluable(law, f"the law of the interface {name}")
                for name, law in _as_interfaces(interfaces, self.domain).items()
            }
        )
        self.conditions = MappingProxyType(
            {s: self._evaluable(law, f"the condition on {s}") for s, law in laws.items()}
        )
        self.initial_table = _tabulated(initial, domain)
        """The table of values that initial was given as, if it was."""
        initial = initial if self.initial_table is None else self.initial_table
        start = _as_initial(initial)
        if start.by_region:
            regions, where = self.domain.region_names, _where(self.domain)
            start = regional_function(start, regions, where, "initial")
        self.initial_coefficient = self._evaluable(start, "initial")
        if exact is not None:
            check_arguments(exact, "exact", "x, t")
            exact = self._numeric(exact, 2, "exact") or exact
        self.exact_function = exact
        self.shape = field_shape(self)
        self.naming = naming(names, units, self.components)
        self._evaluate_initial = self.evaluator(self.initial_coefficient)
        self._evaluate_exact = None if exact is None else Evaluator(exact, domain.dim)

    def __reduce__(self) -> tuple[Any, ...]:
        """As it was stated: what was made of it since is made again."""
        statement = {
            "domain": self.domain,
            "equation": self.equation,
            "conditions": dict(self.conditions),
            "initial": self.initial_table or self.initial_coefficient,
            "exact": self.exact_function,
            "name": self.name,
            "t_end": self.t_end,
            "reference": self.reference,
            "rtol": self.rtol,
            "names": self.naming.names or None,
            "units": dict(self.naming.units),
            "interfaces": dict(self.interfaces),
        }
        return _stated, (statement,)

    def _as_equation(self, given: Any) -> AbstractEquation:
        """The equation, of a domain with regions one for each of them."""
        names = self.domain.region_names
        if isinstance(given, Regional):
            given = dict(zip(given.names, given.parts, strict=True))
        if not names:
            if isinstance(given, Mapping):
                raise ProblemError(
                    f"There is an equation for {', '.join(map(str, given))}, but the domain has no "
                    f"regions; name them: domain.with_regions(…)."
                )
            given = given if isinstance(given, AbstractEquation) else Equation(given)
            return self._evaluable(given, "the equation")
        parts = {
            name: self._evaluable(part, f"the equation in {name}")
            for name, part in divided(given, names).items()
        }
        return Regional(tuple(parts), tuple(parts.values()), _where(self.domain))

    @property
    def equations(self) -> tuple[AbstractEquation, ...]:
        """The equation of each region; of a domain without regions, the equation."""
        return self.equation.parts if isinstance(self.equation, Regional) else (self.equation,)

    def _evaluable(self, part: Part, name: str) -> Part:
        """An equation, a condition or a coefficient that traced code can use, whatever it was."""

        def usable(leaf: Any) -> Any:
            if not isinstance(leaf, Coefficient) or leaf.constant or leaf.by_region:
                return leaf
            found = self._numeric(leaf.value, len(leaf.arguments), name)
            return leaf if found is None else Coefficient(found, leaf.arguments)

        return jax.tree.map(usable, part, is_leaf=lambda leaf: isinstance(leaf, Coefficient))

    def _numeric(self, function: Callable, arguments: int, name: str) -> Untraced | None:
        again = isinstance(function, Untraced)
        bounds, scale = self.domain.bounds, self.t_end or 1.0
        found = function if again else numeric(function, arguments, bounds, scale)
        if found is not None and name not in self.untraced:
            self.untraced += (name,)
        return found

    def __repr__(self) -> str:
        name = f"{self.name}: " if self.name else ""
        return f"<Problem {name}∂ₜu = {self.equation.formula} in {self.domain!r}>"

    @property
    def components(self) -> int:
        """0 for a scalar field (values of shape ()), m for a system (values of shape (m,))."""
        return self.shape[0] if self.shape else 0

    def initial_function(self, x: Point) -> Value:
        """u(x, 0) at one point, as jax.numpy code."""
        return self.initial_coefficient(x, 0.0)

    def initial(self, x) -> Float[np.ndarray, "..."]:
        """u(x, 0) in float64, at one point (d,) or many (n, d)."""
        return self._evaluate_initial(x, 0.0)

    def exact(self, x, t: Time) -> Float[np.ndarray, "..."]:
        """The exact solution u(x, t) in float64, at one point (d,) or many (n, d)."""
        if self._evaluate_exact is None:
            instead = "its .reference holds values" if self.reference else "pass exact=… to Problem"
            raise UsageError(
                f"The problem {self.name or 'at hand'} has no exact solution as a formula; "
                f"{instead}."
            )
        return self._evaluate_exact(x, t)

    def program(
        self, name: Hashable, function: Callable, in_axes: int | tuple[int | None, ...] = 0
    ) -> Vectorised:
        """A function made of this problem's parts, for n points; traced once under its name."""
        return self.kept(("program", name), lambda: Vectorised(function, in_axes))

    def evaluator(self, part: Coefficient) -> Evaluator:
        """One of this problem's coefficients at points; traced once, whoever asks for it."""
        make = lambda: (part, Evaluator(part, self.domain.dim, part.number))
        return self.kept(("evaluator", id(part)), make)[1]

    def kept(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """What is made of this problem once, under its name, and lives as long as the problem."""
        found = vars(self).setdefault("_kept", {})
        if name not in found:
            found[name] = make()
        return found[name]

    @property
    def kind(self) -> str:
        """A scalar field, or a system of m."""
        return f"system of {self.components}" if self.components else "scalar field"

    def described(self) -> list[tuple[str, str]]:
        """(label, text) for each part of the problem, as it was understood."""
        given = self.initial_coefficient.text("a function of x").removesuffix("(x)")
        if self.initial_table is not None:
            given = self.initial_table.described
        items = [
            ("problem", self.name or "(no name)"),
            *self._described_equation(),
            ("domain", self.domain.describe()),
            *((f"at {name}", law.formula) for name, law in self.interfaces.items()),
            *((f"on {segment}", law.formula) for segment, law in self.conditions.items()),
            ("initial", f"u(x, 0) = {given}"),
            ("t_end", "not set" if self.t_end is None else f"{self.t_end:g}"),
            ("solution", self._solution_text()),
        ]
        if self.naming.names:
            items.insert(2, ("names", ", ".join(self.naming.labels)))
        if self.uses_normal:
            items.append(("", "∂ₙ is the derivative along the outward unit normal"))
        return items

    def _described_equation(self) -> list[tuple[str, str]]:
        if not self.domain.region_names:
            return [("equation", f"∂ₜu = {self.equation.formula}    ({self.kind})")]
        pairs = zip(self.domain.region_names, self.equations, strict=True)
        return [(f"in {name}", f"∂ₜu = {part.formula}    ({self.kind})") for name, part in pairs]

    @property
    def uses_normal(self) -> bool:
        """Whether ∂ₙ stands in the formula of a condition."""
        return any("∂ₙ" in condition.formula for condition in self.conditions.values())

    def explain(self) -> str:
        """The problem in words and formulas, as it was understood, and how it will be solved."""
        # Strategies know problems, so problems look them up by name.
        selection = importlib.import_module("tengbc.solver").select_strategy(self)
        return explained([*self.described(), ("strategy", str(selection))])

    def _solution_text(self) -> str:
        if self.exact_function is not None:
            return "exact solution known"
        if self.reference is not None:
            times = self.reference.times
            return f"reference values at {times.size} times up to t = {times[-1]:g}"
        return "not known"


def _stated(statement: Mapping[str, Any]) -> Problem:
    return Problem(**statement)


def explained(items: list[tuple[str, str]]) -> str:
    """Labels and texts in two columns."""
    width = max(len(label) for label, _ in items)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in items)


def _as_domain(domain: Domain) -> Domain:
    from tengbc.geometry.domain import Domain

    if not isinstance(domain, Domain):
        raise ProblemError(f"domain is {domain!r}, but it must be a domain, such as tb.Disk(1.0).")
    return domain


def _as_conditions(
    conditions: Mapping[str, ConditionLike], segments: tuple[str, ...]
) -> Mapping[str, AbstractCondition]:
    """One condition per segment, in the domain's order; raises with the names that do not match."""
    if not isinstance(conditions, Mapping):
        raise ProblemError(
            f"conditions is a {type(conditions).__name__}, but it must name a condition for each "
            f"boundary segment, such as {{{segments[0] if segments else 'left'!r}: "
            f"tb.Dirichlet(0.0)}}; the domain's segments are: {', '.join(segments) or 'none'}."
        )
    missing = [segment for segment in segments if segment not in conditions]
    unknown = [segment for segment in conditions if segment not in segments]
    if missing or unknown:
        wrong = [f"no condition for {', '.join(missing)}"] if missing else []
        if unknown:
            wrong.append(f"a condition for {', '.join(map(str, unknown))}, not a segment")
        raise ProblemError(
            f"The conditions do not match the boundary ({' and '.join(wrong)}); "
            f"the domain's segments are: {', '.join(segments) or 'none'}."
        )
    return {
        segment: Together(tuple(_as_condition(part, segment) for part in law))
        if isinstance(law, list | tuple)
        else _as_condition(law, segment)
        for segment, law in ((name, conditions[name]) for name in segments)
    }


def _as_condition(law: Any, segment: str) -> AbstractCondition:
    if isinstance(law, AbstractCondition):
        return law
    if not isinstance(law, Callable):
        raise ProblemError(
            f"The condition on {segment} is {law!r}, but it must be a condition, such as "
            f"tb.Dirichlet({law if isinstance(law, int | float) else 0.0}) for u = v, "
            f"tb.Neumann(…) for ∂ₙu = v, or tb.Free() where a flow leaves."
        )
    return Condition(law)


def _tabulated(initial: Any, domain: Domain) -> Table | None:
    """Initial values that are a table; None where they are a function or numbers."""
    if isinstance(initial, Coefficient | int | float) or inspect.isfunction(initial):
        return None
    from tengbc.tables import Table, is_table, table

    if isinstance(initial, Table):
        return initial
    return table(initial, domain) if is_table(initial, domain.dim) else None


def _where(domain: Domain) -> Callable[[np.ndarray], np.ndarray]:
    """The numbers of the regions that points lie in."""
    return lambda x: domain.region_of(np.asarray(x, dtype=float))  # pyright: ignore


def _as_interfaces(given: Any, domain: Domain) -> dict[str, Contact]:
    """The law of every interface; raises where a name or a law is none."""
    found = dict.fromkeys(domain.interfaces, Contact())
    if given is None:
        return found
    if not isinstance(given, Mapping):
        raise ProblemError(
            f"interfaces is a {type(given).__name__}, but it must name a law for interfaces, such "
            f"as {{'core|rest': tb.Contact(resistance=0.1)}}."
        )
    for name, law in given.items():
        if not isinstance(law, Contact):
            raise ProblemError(
                f"The law of the interface {name!r} is {law!r}, but it must be one such as "
                f"tb.Contact(resistance=0.1)."
            )
        if name in found:
            found[name] = law
            continue
        other = "|".join(reversed(str(name).split("|")))
        if other not in found:
            raise ProblemError(
                f"There is a law for {name!r}, but the interfaces are: "
                f"{', '.join(domain.interfaces) or 'none: see domain.with_regions'}."
            )
        found[other] = law.seen_from_other_side()
    return found


def _as_initial(initial: CoefficientLike) -> Coefficient:
    function = coefficient(initial, "initial")
    if function.time_dependent:
        raise ProblemError(
            "initial takes two arguments, but u(x, 0) is a function of the point x alone, whose "
            "coordinates are x[0], x[1], …; write it as lambda x: …"
        )
    return function
