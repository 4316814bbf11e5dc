"""Heat on the unit disk with prescribed, time-dependent boundary values."""

from tengbc.conditions import Dirichlet
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.problems.heat_kernels import KAPPA, solution


def build() -> Problem:
    """∂ₜu = 0.1 ∇²u, u = g(x, t) on the circle, g being the exact solution there."""
    return Problem(
        domain=Disk(radius=1.0),
        equation=Heat(kappa=KAPPA),
        conditions={"circle": Dirichlet(solution)},
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name="heat-dirichlet",
        t_end=1.0,
        rtol=1e-10,
    )
