"""The paper's seven benchmark problems by name, with their exact solutions."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from tengbc.errors import UsageError
from tengbc.problems.catalog import CATALOG as CATALOG
from tengbc.problems.catalog import Entry as Entry

if TYPE_CHECKING:
    from tengbc.problem import Problem


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(CATALOG)


def get(name: str) -> Problem:
    """The benchmark problem of that name, such as "heat-robin"."""
    return factory(name)()


def factory(name: str) -> Callable[..., Problem]:
    """The function that builds it."""
    if name not in CATALOG:
        close = difflib.get_close_matches(str(name), CATALOG, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(
            f"There is no problem called {name!r}; {hint}choose one of {', '.join(CATALOG)}."
        )
    module, _, function = CATALOG[name].builder.partition(":")
    return getattr(importlib.import_module(f"{__name__}.{module}"), function)
