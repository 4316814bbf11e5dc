"""A prescribed slope."""

from tengbc.coefficient import CoefficientLike
from tengbc.conditions.robin import Robin


def Neumann(v: CoefficientLike) -> Robin:
    """∂ₙu = v along the outward normal, with v a number, a function of x or of (x, t)."""
    return Robin(a=0.0, b=1.0, v=v)
