"""Time schemes by name; a Runge–Kutta method is a tableau."""

from tengbc.errors import UsageError
from tengbc.schemes.adams import AdamsBashforth as AdamsBashforth
from tengbc.schemes.base import AbstractScheme as AbstractScheme
from tengbc.schemes.bdf import BackwardDifferences as BackwardDifferences
from tengbc.schemes.radau import RadauIIA as RadauIIA
from tengbc.schemes.runge_kutta import RungeKutta as RungeKutta
from tengbc.schemes.tableau import EULER as EULER
from tengbc.schemes.tableau import HEUN as HEUN
from tengbc.schemes.tableau import RK4 as RK4
from tengbc.schemes.tableau import SSP104 as SSP104
from tengbc.schemes.tableau import Tableau as Tableau

SCHEMES: dict[str, AbstractScheme] = {
    scheme.name: scheme
    for scheme in (
        *(RadauIIA(stages) for stages in (5, 4, 3, 2)),
        *(BackwardDifferences(order) for order in (1, 2, 3, 4, 5)),
        *(BackwardDifferences(order, imex=True) for order in (1, 2, 3, 4)),
        *(AdamsBashforth(order) for order in (2, 3, 4)),
        *(RungeKutta(tableau) for tableau in (EULER, HEUN, RK4)),
    )
}
"""Every scheme; `add_scheme` adds one of your own."""


def add_scheme(scheme: AbstractScheme) -> AbstractScheme:
    """Make a scheme of your own known to `solve`, by its name."""
    if scheme.name in SCHEMES:
        raise UsageError(f"There is a scheme {scheme.name!r} already; choose another name.")
    SCHEMES[scheme.name] = scheme
    return scheme
