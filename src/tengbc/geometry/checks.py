"""Checks of what a user passes in; each failure is one sentence: what, why, what to do."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.errors import ProblemError, UsageError

LARGEST = 1e75
"""Of a coordinate or a radius: areas and volumes are still numbers."""
RULES = ("uniform", "low-discrepancy", "random", "gauss")


def listed(names: Sequence[str]) -> str:
    """The names as they stand in a sentence: 'left', 'right'."""
    return ", ".join(repr(name) for name in names)


def whole(value: Any, name: str, least: int, most: int = 50_000_000) -> int:
    """A whole number in least..most, or a UsageError."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise UsageError(f"{name} must be a whole number from {least} to {most}, not {value!r}.")
    return number


def finite(value: Any, name: str) -> float:
    """A finite float, or a ProblemError."""
    try:
        number = float("nan") if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not np.isfinite(number):
        raise ProblemError(f"{name} must be a finite number, not {value!r}.")
    if abs(number) > LARGEST:
        raise ProblemError(f"{name} is {number:g}, whose powers overflow; choose larger units.")
    return number


def positive(value: Any, name: str) -> float:
    """A finite float above zero, or a ProblemError."""
    number = finite(value, name)
    if number <= 0:
        raise ProblemError(f"{name} must be greater than zero, not {value!r}.")
    return number


def sequence(values: Any, name: str) -> tuple[Any, ...]:
    """The entries of a list, tuple or array, or a ProblemError."""
    try:
        if not isinstance(values, str | bytes):
            return tuple(values)
    except TypeError:
        pass
    raise ProblemError(f"{name} must be a list, not {values!r}.")


def vector(values: Any, name: str, dim: int | None = None) -> tuple[float, ...]:
    """Finite coordinates as a tuple, of length `dim` where that is given, or a ProblemError."""
    entries = sequence(values, name)
    if not entries or (dim is not None and len(entries) != dim):
        count = "one or more" if dim is None else str(dim)
        raise ProblemError(f"{name} must hold {count} coordinates, not {values!r}.")
    return tuple(finite(entry, f"A coordinate of {name}") for entry in entries)


def box(lower: Any, upper: Any, dim: int | None = None) -> tuple[tuple[float, ...], ...]:
    """Opposite corners of a box, lower < upper on every axis, or a ProblemError."""
    lower, upper = vector(lower, "lower", dim), vector(upper, "upper", dim)
    if len(lower) != len(upper):
        raise ProblemError(
            f"lower has {len(lower)} coordinates and upper has {len(upper)}; "
            "give both corners in the same dimension."
        )
    if not all(low < high for low, high in zip(lower, upper, strict=True)):
        raise ProblemError(
            f"lower {lower} must lie below upper {upper} on every axis; "
            "swap or correct the coordinates."
        )
    return lower, upper


def radii(inner: Any, outer: Any) -> tuple[float, float]:
    """Two radii with 0 < inner < outer, or a ProblemError."""
    inner, outer = positive(inner, "inner"), positive(outer, "outer")
    if not inner < outer:
        raise ProblemError(f"inner = {inner} must be smaller than outer = {outer}; swap the radii.")
    return inner, outer


def coordinates(x: Any, dim: int) -> Float[np.ndarray, "n d"]:
    """Points as a float64 array of shape (n, dim), or a UsageError."""
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"Points must be an array of numbers of shape (n, {dim}).") from None
    if array.ndim != 2 or array.shape[1] != dim:
        raise UsageError(
            f"Points must have shape (n, {dim}) because the domain has dimension {dim}, "
            f"not {array.shape}."
        )
    return array


def assign(domain: Any, **fields: Any) -> None:
    """Fields of a frozen domain in the form that the checks give them; once, when it is made."""
    for name, value in fields.items():
        object.__setattr__(domain, name, value)


def rule_arguments(rule: Any, **given: Any) -> None:
    """Refuse an unknown rule, and arguments that the rule would silently ignore."""
    if rule not in RULES:
        raise UsageError(f"There is no sampling rule {rule!r}; choose one of {listed(RULES)}.")
    accepted = {"uniform": ("n", "per_axis"), "gauss": ("order",)}.get(rule, ("n",))
    for name, value in given.items():
        if value is not None and name not in accepted:
            raise UsageError(
                f"The sampling rule {rule!r} has no use for {name}; "
                f"give {' or '.join(name for name in accepted if name in given)} instead."
            )
    named = [name for name in accepted if given.get(name) is not None]
    if len(named) > 1:
        raise UsageError(f"Give only one of {' and '.join(named)}, for both set the point count.")
    if not named and rule != "gauss":
        raise UsageError(f"The sampling rule {rule!r} needs a number of points, such as n=1000.")
