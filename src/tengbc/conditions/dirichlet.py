"""A prescribed value."""

from tengbc.coefficient import CoefficientLike
from tengbc.conditions.robin import Robin


def Dirichlet(v: CoefficientLike) -> Robin:
    """u = v, with v a number, a function of x or a function of (x, t)."""
    return Robin(a=1.0, b=0.0, v=v)
