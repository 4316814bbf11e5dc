"""Files: written whole or not at all, checked by a digest, holding numbers and names but no code.

Names are imported when first used: checksummed and atomic files need no JAX.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengbc.solver.solution_file import load as load
    from tengbc.solver.solution_file import save as save
    from tengbc.storage.codec import register as register

_HOMES = {
    "register": "storage.codec",
    "load": "solver.solution_file",
    "save": "solver.solution_file",
}


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"tengbc.storage has no {name!r}")
    return getattr(importlib.import_module(f"tengbc.{_HOMES[name]}"), name)
