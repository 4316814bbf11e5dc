"""Heat on the insulated unit disk."""

from scipy.special import jnp_zeros

from tengbc.conditions import Neumann
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.problem import Problem
from tengbc.problems.harmonics import Harmonic, decaying

KAPPA = 0.1

WEIGHTS = {
    # (m, n): weight of ψ_{m,n} = J_m(j'_{m,n} r) cos(mθ) exp(−κ j'²_{m,n} t)
    **{(0, 1): 1, (0, 2): 1 / 4, (0, 3): 1 / 16, (0, 4): 1 / 64},
    **{(1, 1): -1, (1, 2): -1 / 2, (1, 3): -1 / 4, (1, 4): -1 / 8},
    **{(2, 1): 1, (3, 1): 1, (4, 1): 1},
}
INSULATED = tuple(
    Harmonic(weight / 4, m, jnp_zeros(m, n)[-1]) for (m, n), weight in WEIGHTS.items()
)


def build() -> Problem:
    """∂ₜu = 0.1 ∇²u, ∂ₙu = 0 on the circle."""
    solution = decaying(INSULATED, KAPPA)
    return Problem(
        domain=Disk(radius=1.0),
        equation=Heat(kappa=KAPPA),
        conditions={"circle": Neumann(0.0)},
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name="heat-neumann",
        t_end=1.0,
        rtol=1e-10,
    )
