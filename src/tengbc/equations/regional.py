"""An equation for each region of a domain."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tengbc.coefficient import Coefficient
from tengbc.equations.base import AbstractEquation, Equation
from tengbc.errors import ProblemError
from tengbc.types import Field, Point, Time, Value


class Regional(AbstractEquation):
    """∂ₜu = L_k(u, x, t) in region k; `where` tells the numbers of the regions of points."""

    names: tuple[str, ...] = eqx.field(static=True)
    parts: tuple[AbstractEquation, ...]
    where: Callable[[np.ndarray], np.ndarray] = eqx.field(static=True)

    def rhs(self, u: Field, x: Point, t: Time) -> Value:
        return _chosen(self.where, x, [part.rhs(u, x, t) for part in self.parts])

    @property
    def formula(self) -> str:
        pairs = zip(self.names, self.parts, strict=True)
        return "; ".join(f"{part.formula} in {name}" for name, part in pairs)


def _chosen(where: Callable[[np.ndarray], np.ndarray], x: Point, values: Sequence[Value]) -> Value:
    """The value that belongs to the region of a point."""

    def number(x: Any) -> np.ndarray:
        x = np.asarray(x)
        return where(x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1]).astype(np.int32)

    made = jax.ShapeDtypeStruct((), jnp.int32)
    here = jax.pure_callback(number, made, jax.lax.stop_gradient(x), vmap_method="expand_dims")
    found = values[0]
    for k, value in enumerate(values[1:], start=1):
        found = jnp.where(here == k, value, found)
    return found


def regional_function(
    given: Coefficient, names: Sequence[str], where: Callable[[np.ndarray], np.ndarray], what: str
) -> Coefficient:
    """A coefficient that is given by region, as a function of x."""
    parts = [in_region(given, name, names, what) for name in names]
    if any(part.time_dependent for part in parts):
        raise ProblemError(f"{what} is a function of (x, t) in a region; write it as lambda x: …")
    return Coefficient(lambda x: _chosen(where, x, [part(x, 0.0) for part in parts]), ("x",))


def divided(equation: Any, names: Sequence[str]) -> dict[str, AbstractEquation]:
    """The equation of each region, from a mapping or from coefficients that are given by region."""
    if isinstance(equation, Mapping):
        _check_names(equation, names, "equation")
        missing = [name for name in names if name not in equation]
        if missing:
            raise ProblemError(
                f"There is no equation for the region {missing[0]}; the domain's regions are: "
                f"{', '.join(names)}."
            )
        given = {name: _as_equation(equation[name]) for name in names}
    else:
        given = dict.fromkeys(names, _as_equation(equation))
    return {name: _in_region(part, name, names) for name, part in given.items()}


def _as_equation(given: Any) -> AbstractEquation:
    return given if isinstance(given, AbstractEquation) else Equation(given)


def _in_region(equation: AbstractEquation, region: str, names: Sequence[str]) -> AbstractEquation:
    def chosen(leaf: Any) -> Any:
        if not isinstance(leaf, Coefficient) or not leaf.by_region:
            return leaf
        return in_region(leaf, region, names, "a coefficient of the equation")

    is_leaf = lambda leaf: isinstance(leaf, Coefficient)
    return jax.tree.map(chosen, equation, is_leaf=is_leaf)


def in_region(coefficient: Coefficient, region: str, names: Sequence[str], what: str) -> Any:
    """What a coefficient that is given by region is in one of them."""
    parts = dict(zip(coefficient.arguments[1:], coefficient.value, strict=True))
    _check_names([name for name in parts if name], names, what)
    if region not in parts and "" not in parts:
        raise ProblemError(
            f"There is no value of {what} for the region {region}; the domain's regions are: "
            f"{', '.join(names) or 'none'}."
        )
    return parts.get(region, parts.get(""))


def _check_names(given: Any, names: Sequence[str], what: str) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ProblemError(
            f"{what} names {unknown[0]!r}, which is no region of the domain; its regions are: "
            f"{', '.join(names) or 'none: see domain.with_regions'}."
        )
