"""What people call the components of a field, and the units they are in: text for labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tengbc.errors import ProblemError, UsageError

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
TAKEN = ("t", "time", "point", "component", "x", "y", "z")
"""Names that files use for other things."""


def indexed(symbol: str, index: int) -> str:
    """The symbol of a component or a coordinate, counted from 0: u₁, x₂, …"""
    return symbol + str(index + 1).translate(SUBSCRIPTS)


@dataclass(frozen=True)
class Naming:
    """`names` of the components, empty where none were given; `units` by name, "x" and "t"."""

    names: tuple[str, ...]
    units: Mapping[str, str]
    components: int

    @property
    def symbols(self) -> tuple[str, ...]:
        """One for each component: its name, else u, or u₁, u₂, …"""
        return self.names or tuple(indexed("u", k) for k in range(self.components)) or ("u",)

    @property
    def labels(self) -> tuple[str, ...]:
        """The same with units, for axes."""
        return tuple(self._with_unit(name, self.unit(k)) for k, name in enumerate(self.symbols))

    def unit(self, component: int) -> str:
        """The unit of a component; empty where none was given."""
        return self.units.get(self.symbols[component], self.units.get("u", ""))

    def axis(self, symbol: str) -> str:
        """The label of an axis of space."""
        return self._with_unit(symbol, self.units.get("x", ""))

    @property
    def time(self) -> str:
        """The label of an axis of time."""
        return self._with_unit("t", self.units.get("t", ""))

    def moment(self, text: str) -> str:
        """t = 0.5 s, from the number as text."""
        return f"t = {text} {self.units.get('t', '')}".rstrip()

    def index(self, which: int | str) -> int:
        """The number of a component that is given by its name or, from 0, by its number."""
        count = len(self.symbols)
        if isinstance(which, str) and which in self.symbols:
            return self.symbols.index(which)
        if isinstance(which, int) and not isinstance(which, bool) and which in range(count):
            return which
        known = f"; its names are {', '.join(self.symbols)}" if count > 1 or self.names else ""
        if isinstance(which, str):
            raise UsageError(f"The field has no component called {which!r}{known}; choose one.")
        raise UsageError(f"component is {which!r}, but the field has {count}; count from 0{known}.")

    @staticmethod
    def _with_unit(name: str, unit: str) -> str:
        return f"{name} [{unit}]" if unit else name


def naming(
    names: str | Sequence[str] | None, units: Mapping[str, str] | None, components: int
) -> Naming:
    """Names and units as a user gave them, checked; `components` is 0 for a scalar field."""
    given = () if names is None else (names,) if isinstance(names, str) else tuple(names)
    count = max(components, 1)
    if given and len(given) != count:
        raise ProblemError(
            f"names has {len(given)} entries, but the field has {count} "
            f"component{'s' if count > 1 else ''}; give one name for each."
        )
    for name in given:
        _check_name(name)
    if len(set(given)) < len(given):
        raise ProblemError(f"names holds one name twice: {', '.join(given)}; change one of them.")
    found = Naming(given, dict(units or {}), components)
    known = dict.fromkeys((*(given or ("u", *found.symbols)), "x", "t"))
    for name, unit in found.units.items():
        if name not in known or not isinstance(unit, str):
            raise ProblemError(
                f"units says {unit!r} for {name!r}, but it is text, such as 'm', for "
                f"{', '.join(known)}; correct it."
            )
    return found


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or "/" in name:
        raise ProblemError(
            f"names holds {name!r}, but a name is a word without '/', such as 'temperature'."
        )
    if name in TAKEN:
        raise ProblemError(
            f"names holds {name!r}, which stands for something else in files; choose another."
        )
