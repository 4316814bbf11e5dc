"""Packages of the extras, loaded where they are used and not before."""

import importlib
from typing import Any


def extra(module: str, purpose: str, name: str) -> Any:
    """The module, or a sentence that says which extra of tengbc brings it."""
    from tengbc.errors import UsageError

    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.split(".")[0]
        raise UsageError(
            f"{purpose} needs {package}, which is not installed; "
            f"install it with pip install 'tengbc[{name}]'."
        ) from None


def pyplot() -> Any:
    """matplotlib.pyplot."""
    return extra("matplotlib.pyplot", "A figure", "plot")
