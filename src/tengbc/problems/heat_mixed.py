"""Heat on a quarter annulus: values on the arcs, insulation on the straight edges."""

import math

from scipy.special import jn_zeros

from tengbc.conditions import Dirichlet, Neumann
from tengbc.equations import Heat
from tengbc.geometry import AnnularSector
from tengbc.problem import Problem
from tengbc.problems.harmonics import Harmonic, decaying

KAPPA = 0.1

WEIGHTS = {
    # (m, n): weight of ψ_{m,n} = J_m(j_{m,n} r) cos(mθ) exp(−κ j²_{m,n} t)
    **{(0, 1): 1, (0, 2): -1 / 2, (0, 3): 1 / 4, (0, 4): -1 / 8},
    **{(2, 1): 1, (2, 2): -1 / 2, (2, 3): 1 / 4, (2, 4): -1 / 8},
    (4, 2): 1,
}


def build() -> Problem:
    """∂ₜu = 0.1 ∇²u; u = 0 at r = 1, u = g(θ, t) at r = ½, ∂ₙu = 0 at θ = 0 and θ = π/2."""
    solution = decaying(
        [Harmonic(weight / 4, m, jn_zeros(m, n)[-1]) for (m, n), weight in WEIGHTS.items()], KAPPA
    )
    return Problem(
        domain=AnnularSector(inner=0.5, outer=1.0, start=0.0, end=math.pi / 2),
        equation=Heat(kappa=KAPPA),
        conditions={
            "inner": Dirichlet(solution),
            "outer": Dirichlet(0.0),
            "start": Neumann(0.0),
            "end": Neumann(0.0),
        },
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name="heat-mixed",
        t_end=1.0,
        rtol=1e-10,
    )
