"""A coefficient of an equation or a condition: a number, an array, or a function of x or (x, t)."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.core import Tracer
from jaxtyping import ArrayLike

from tengbc.errors import UsageError
from tengbc.types import Point, Time


class Coefficient(eqx.Module):
    """c(x, t), whatever it was given as; `coefficient` makes one."""

    value: Any
    arguments: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, x: Point, t: Time) -> Array:
        if self.by_region:
            raise UsageError(
                f"A coefficient is given for the regions {', '.join(self.arguments[1:])}, but the "
                f"domain has none; name them: domain.with_regions(…)."
            )
        value = self.value(*(x, t)[: len(self.arguments)]) if self.arguments else self.value
        return real(value)

    @property
    def by_region(self) -> bool:
        """Whether it was given for each region of a domain: `value` are its parts."""
        return self.arguments[:1] == ("region",)

    @property
    def time_dependent(self) -> bool:
        """Whether it was declared as a function of (x, t)."""
        return self.arguments == ("x", "t")

    @property
    def constant(self) -> bool:
        """Whether it is a number or an array rather than a function."""
        return not self.arguments

    @property
    def number(self) -> Any:
        """The number or array; None for a function."""
        return self.value if self.constant else None

    def equals(self, number: int) -> bool:
        """Whether it is that very number everywhere, known without evaluating a function."""
        return isinstance(self.value, float) and self.value == number

    def text(self, symbol: str) -> str:
        """How a formula shows it: the number itself, or `symbol(x, t)` for a function."""
        if self.by_region:
            parts = zip(self.arguments[1:], self.value, strict=True)
            return ", ".join(f"{part.text(symbol)} in {name}" for name, part in parts if name)
        if self.arguments:
            return f"{symbol}({', '.join(self.arguments)})"
        if isinstance(self.value, np.ndarray):
            return np.array2string(self.value, separator=", ", precision=4, threshold=8)
        return f"{self.value:.4g}".replace("-", "−") if isinstance(self.value, float) else symbol


def real(value: Any) -> Array:
    """What a user's function returned, as an array of real numbers."""
    if jnp.iscomplexobj(value):
        raise UsageError(
            "A function returns complex numbers, but fields are real; take the real part, or two "
            "components for real and imaginary part."
        )
    return jnp.asarray(value, dtype=float)


CoefficientLike: TypeAlias = ArrayLike | Sequence | Callable | Mapping | Coefficient
"""What a user may write: a number, an array, a function of x or a function of (x, t); where the
domain has regions, also one of these for each by name."""


def coefficient(value: CoefficientLike, name: str, missing: float | None = None) -> Coefficient:
    """Turn a number, an array, a function of x or a function of (x, t) into a `Coefficient`.

    **Arguments:** `value`, or one for each region by name; `name`, what error messages call it;
    `missing`, the value in regions that are not named.
    """
    if isinstance(value, Coefficient):
        return value
    if isinstance(value, Mapping):
        return by_region(value, name, coefficient, missing)
    if callable(value):
        return Coefficient(value, _arguments(value, name))
    if isinstance(value, Tracer):  # being differentiated or compiled: leave it alone
        return Coefficient(value, ())
    try:
        array = np.asarray(value)
        array = array.astype(float, casting="same_kind" if array.dtype != bool else "no")
    except (TypeError, ValueError):
        raise UsageError(
            f"{name} is {value!r}, which is neither a number, an array nor a function of x or "
            f"(x, t); give one of these."
        ) from None
    if not np.all(np.isfinite(array)):
        raise UsageError(f"{name} is {value!r}, but it must be finite; give a finite number.")
    return Coefficient(float(array) if array.ndim == 0 else array, ())


def by_region(
    values: Mapping[str, Any],
    name: str,
    make: Callable[[Any, str], Any],
    missing: float | None = None,
) -> Coefficient:
    """A coefficient of several parts, each made of what was given for a region."""
    parts = {region: make(value, f"{name} in {region}") for region, value in values.items()}
    if missing is not None:
        parts |= {"": make(missing, name)}
    return Coefficient(tuple(parts.values()), ("region", *parts))


def nonnegative(value: CoefficientLike, name: str) -> Coefficient:
    """The coefficient before second derivatives: no negative number."""
    if isinstance(value, Mapping):
        return by_region(value, name, nonnegative)
    found = coefficient(value, name)
    known = found.constant and not isinstance(found.value, Tracer)
    if known and np.min(found.value) < 0:
        raise UsageError(
            f"{name} is {value!r}, but diffusion with a negative number is ill-posed: what is "
            f"large would grow without bound; give {name} ≥ 0."
        )
    return found


def positional_arguments(function: Callable, name: str) -> tuple[str, ...]:
    """Names of the arguments a function needs by position.

    Arguments with a default are the author's own (`lambda x, k=3: …`), except one called `t`.
    """
    kinds = inspect.Parameter
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise UsageError(
            f"The arguments of {name} cannot be read from {function!r}; wrap it in a lambda."
        ) from None
    if any(parameter.kind is kinds.VAR_POSITIONAL for parameter in parameters):
        raise UsageError(
            f"{name} takes any number of arguments, so it does not say which it wants; "
            f"wrap it in a lambda that names them."
        )
    return tuple(
        parameter.name
        for parameter in parameters
        if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        and (parameter.default is kinds.empty or parameter.name == "t")
    )


def check_arguments(function: Callable, name: str, expected: str) -> None:
    """Raise unless the function takes as many arguments as `expected`, such as "u, x, t"."""
    if not callable(function):
        raise UsageError(f"{name} is {function!r}, but it must be a function of ({expected}).")
    given = positional_arguments(function, name)
    if len(given) != expected.count(",") + 1:
        raise UsageError(
            f"{name} must be a function of ({expected}), but it takes ({', '.join(given)}); "
            f"write it as lambda {expected}: …"
        )


def _arguments(function: Callable, name: str) -> tuple[str, ...]:
    """("x",) or ("x", "t"), by the number of arguments the function takes."""
    given = positional_arguments(function, name)
    # A lone or leading `t` would silently receive the point: refuse it instead.
    if len(given) not in (1, 2) or given[0] == "t":
        raise UsageError(
            f"{name} must be a function of x or of (x, t), but it takes ({', '.join(given)}); "
            f"write it as lambda x: … or lambda x, t: …"
        )
    return ("x", "t")[: len(given)]
