"""Solutions as files: safetensors with a description in JSON, a digest over all of it, no code.

Names are imported when first used: sealed and atomic files need no JAX.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengbc.storage.kinds import register as register
    from tengbc.storage.solutions import load as load
    from tengbc.storage.solutions import save as save

_HOMES = {"register": "kinds", "load": "solutions", "save": "solutions"}


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"tengbc.storage has no {name!r}")
    return getattr(importlib.import_module(f"tengbc.storage.{_HOMES[name]}"), name)
