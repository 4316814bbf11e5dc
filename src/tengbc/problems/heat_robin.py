"""Heat on the unit disk losing heat in proportion to its temperature."""

from scipy.special import jv, jvp

from tengbc.conditions import Robin
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.problems.harmonics import Harmonic, decaying

KAPPA = 0.1
LAMBDA = -jv(2, 4.0) / (4 * jvp(2, 4.0))
"""λ ≈ 0.367 makes J₂(4r) cos 2θ satisfy u + λ∂ₙu = 0 at r = 1."""


def build() -> Problem:
    """∂ₜu = 0.1 ∇²u, u + λ∂ₙu = 0 on the circle."""
    solution = decaying((Harmonic(1.0, 2, 4.0),), KAPPA)
    return Problem(
        domain=Disk(radius=1.0),
        equation=Heat(kappa=KAPPA),
        conditions={"circle": Robin(a=1.0, b=LAMBDA, v=0.0)},
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name="heat-robin",
        t_end=1.0,
        rtol=1e-10,
    )
