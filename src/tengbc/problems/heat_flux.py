"""Heat on the unit disk with a prescribed flux: the insulated solution plus one harmonic."""

from scipy.special import jn_zeros

from tengbc.conditions import Neumann
from tengbc.equations import Heat
from tengbc.fields import normal_derivative
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.problems.harmonics import Harmonic, decaying
from tengbc.problems.heat_neumann import INSULATED, KAPPA
from tengbc.types import Point, Time, Value

EXTRA = Harmonic(1.0, 1, jn_zeros(1, 1)[0])
"""J₁(j_{1,1} r) cos θ, whose slope on the circle is not zero."""


def build() -> Problem:
    """∂ₜu = 0.1 ∇²u, ∂ₙu on the circle equal to that of the extra harmonic."""
    solution = decaying((*INSULATED, EXTRA), KAPPA)
    extra = decaying((EXTRA,), KAPPA)

    def flux(x: Point, t: Time) -> Value:
        # On the unit circle the outward normal is the point itself.
        return normal_derivative(lambda y: extra(y, t))(x, x)

    return Problem(
        domain=Disk(radius=1.0),
        equation=Heat(kappa=KAPPA),
        conditions={"circle": Neumann(flux)},
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name="heat-flux",
        t_end=1.0,
        rtol=1e-10,
    )
