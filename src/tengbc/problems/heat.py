"""The heat equation ∂ₜu = 0.1 ∇²u on the unit disk, and on a quarter annulus."""

import math
from collections.abc import Callable, Mapping

from scipy.special import jn_zeros, jnp_zeros, jv, jvp

from tengbc.conditions import AbstractCondition, Dirichlet, Neumann, Robin
from tengbc.equations import Heat
from tengbc.fields import normal_derivative
from tengbc.geometry import AnnularSector, Disk, Domain
from tengbc.problem import Problem
from tengbc.problems import heat_kernels
from tengbc.problems.harmonics import Harmonic, decaying
from tengbc.problems.heat_kernels import KAPPA
from tengbc.types import Point, Time, Value

LAMBDA = -jv(2, 4.0) / (4 * jvp(2, 4.0))
"""λ ≈ 0.367 makes J₂(4r) cos 2θ satisfy u + λ∂ₙu = 0 at r = 1."""
EXTRA = Harmonic(1.0, 1, jn_zeros(1, 1)[0])
"""J₁(j_{1,1} r) cos θ, whose slope on the circle is not zero."""
INSULATED_WEIGHTS = {
    # (m, n): weight of ψ_{m,n} = J_m(j'_{m,n} r) cos(mθ) exp(−κ j'²_{m,n} t)
    **{(0, 1): 1, (0, 2): 1 / 4, (0, 3): 1 / 16, (0, 4): 1 / 64},
    **{(1, 1): -1, (1, 2): -1 / 2, (1, 3): -1 / 4, (1, 4): -1 / 8},
    **{(2, 1): 1, (3, 1): 1, (4, 1): 1},
}
MIXED_WEIGHTS = {
    # (m, n): weight of ψ_{m,n} = J_m(j_{m,n} r) cos(mθ) exp(−κ j²_{m,n} t)
    **{(0, 1): 1, (0, 2): -1 / 2, (0, 3): 1 / 4, (0, 4): -1 / 8},
    **{(2, 1): 1, (2, 2): -1 / 2, (2, 3): 1 / 4, (2, 4): -1 / 8},
    (4, 2): 1,
}


def dirichlet() -> Problem:
    """u = g(x, t) on the circle, g being the exact solution there."""
    solution = heat_kernels.solution
    return _heat("heat-dirichlet", Disk(1.0), {"circle": Dirichlet(solution)}, solution)


def neumann() -> Problem:
    """∂ₙu = 0 on the circle: an insulated disk."""
    solution = decaying(_insulated(), KAPPA)
    return _heat("heat-neumann", Disk(1.0), {"circle": Neumann(0.0)}, solution)


def flux() -> Problem:
    """∂ₙu on the circle equal to that of one harmonic, which the insulated solution has besides."""
    extra = decaying([EXTRA], KAPPA)

    def slope(x: Point, t: Time) -> Value:
        # On the unit circle the outward normal is the point itself.
        return normal_derivative(lambda y: extra(y, t))(x, x)

    solution = decaying([*_insulated(), EXTRA], KAPPA)
    return _heat("heat-flux", Disk(1.0), {"circle": Neumann(slope)}, solution)


def robin() -> Problem:
    """u + λ∂ₙu = 0 on the circle: heat is lost in proportion to the temperature."""
    law = Robin(a=1.0, b=LAMBDA, v=0.0)
    solution = decaying([Harmonic(1.0, 2, 4.0)], KAPPA)
    return _heat("heat-robin", Disk(1.0), {"circle": law}, solution)


def mixed() -> Problem:
    """u = 0 at r = 1, u = g(θ, t) at r = ½, ∂ₙu = 0 at θ = 0 and θ = π/2."""
    weights = MIXED_WEIGHTS.items()
    solution = decaying([Harmonic(w / 4, m, jn_zeros(m, n)[-1]) for (m, n), w in weights], KAPPA)
    arcs = {"inner": Dirichlet(solution), "outer": Dirichlet(0.0)}
    sides = {"start": Neumann(0.0), "end": Neumann(0.0)}
    domain = AnnularSector(inner=0.5, outer=1.0, start=0.0, end=math.pi / 2)
    return _heat("heat-mixed", domain, arcs | sides, solution)


def _insulated() -> list[Harmonic]:
    weights = INSULATED_WEIGHTS.items()
    return [Harmonic(weight / 4, m, jnp_zeros(m, n)[-1]) for (m, n), weight in weights]


def _heat(
    name: str,
    domain: Domain,
    conditions: Mapping[str, AbstractCondition],
    solution: Callable[[Point, Time], Value],
) -> Problem:
    return Problem(
        domain=domain,
        equation=Heat(KAPPA),
        conditions=conditions,
        initial=lambda x: solution(x, 0.0),
        exact=solution,
        name=name,
        t_end=1.0,
        rtol=1e-10,
    )
