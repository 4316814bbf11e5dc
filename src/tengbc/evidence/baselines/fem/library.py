"""scikit-fem, loaded when a finite-element solve begins and not before."""

import importlib
import logging
from typing import Any

from tengbc.errors import UsageError


def scikit_fem() -> Any:
    """The module `skfem`, or a sentence that says how to get it."""
    try:
        module = importlib.import_module("skfem")
    except ImportError:
        raise UsageError(
            "The finite-element solver needs scikit-fem, which is not installed; "
            "install it with pip install 'tengbc[fem]'."
        ) from None
    # It warns about every mesh whose elements are not all equally oriented, which is harmless.
    logging.getLogger("skfem").setLevel(logging.ERROR)
    return module
