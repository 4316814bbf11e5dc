"""Domains and networks as JSON: the name of a known class and its fields, nothing evaluated.

A domain or a body of one's own becomes known by one line: `register(MyDomain)`.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import numpy as np

from tengbc import geometry, networks
from tengbc.errors import CheckpointError, UsageError
from tengbc.networks.layers import Dense

Class = TypeVar("Class", bound=type)
Wanted = TypeVar("Wanted")
_KINDS: dict[str, type] = {}


def register(kind: Class) -> Class:
    """Let files hold instances of a dataclass whose fields are numbers, names, arrays or kinds."""
    if not hasattr(kind, "__dataclass_fields__"):
        raise UsageError(
            f"{kind.__name__} is no dataclass, so its fields are not known; make it one."
        )
    _KINDS[kind.__name__] = kind
    return kind


def _storable(kind: Any) -> bool:
    """Domains and parts of networks, but no class that holds functions: no file can."""
    if not isinstance(kind, type) or not issubclass(kind, geometry.Domain | eqx.Module):
        return False
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else None
    return fields is not None and not any("Callable" in str(field.type) for field in fields)


for _kind in [*vars(geometry).values(), *vars(networks).values(), Dense]:
    if _storable(_kind):
        register(_kind)


def encode(value: Any) -> Any:
    """A domain or a body in terms of JSON.

    Of an array there is only the shape, because θ has its entries; of what no file can hold, such
    as a function, only the name.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [encode(entry) for entry in value]
    if hasattr(value, "shape"):
        return {"kind": "array", "shape": list(value.shape)}
    name = type(value).__name__
    if _KINDS.get(name) is not type(value):
        return {"kind": name}
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {"kind": name} | {field: encode(entry) for field, entry in fields.items()}


def decode(value: Any, wanted: type[Wanted], most_entries: int = 0) -> Wanted:
    """The domain or body that was encoded; its arrays are zeros, `most_entries` of them in all."""
    left = most_entries

    def array(shape: tuple[int, ...]) -> np.ndarray:
        nonlocal left
        left -= math.prod(shape)
        if left < 0 or min(shape, default=0) < 0:
            raise CheckpointError("it describes larger arrays than it holds; use another copy.")
        return np.zeros(shape)

    try:
        found = _decode(value, array)
    except UsageError as error:  # a class refuses the numbers: the file's fault, not the user's
        raise CheckpointError(str(error)) from None
    if not isinstance(found, wanted):
        raise CheckpointError(f"it holds no {wanted.__name__} where one belongs; use another copy.")
    return found


def _decode(value: Any, array: Callable[[tuple[int, ...]], np.ndarray]) -> Any:
    if isinstance(value, list):
        return tuple(_decode(entry, array) for entry in value)
    if not isinstance(value, dict):
        return value
    fields = {name: _decode(entry, array) for name, entry in value.items() if name != "kind"}
    kind = value.get("kind")
    if kind == "array":
        return array(fields["shape"])
    if kind not in _KINDS:
        raise CheckpointError(
            f"it holds a {kind!r}, which is not known here; import the module that defines it and "
            f"call tengbc.register on it, or pass problem=… or body=… to tengbc.load."
        )
    return _KINDS[kind](**fields)
