"""Bessel functions of the first kind and the zeros that the benchmark problems need.

Written out rather than taken from SciPy, whose import is slow; the tests compare with SciPy.
"""

import math

ZEROS = {
    (0, 1): 2.4048255576957724,
    (0, 2): 5.520078110286311,
    (0, 3): 8.653727912911013,
    (0, 4): 11.791534439014281,
    (1, 1): 3.8317059702075125,
    (2, 1): 5.135622301840683,
    (2, 2): 8.417244140399866,
    (2, 3): 11.61984117214906,
    (2, 4): 14.795951782351262,
    (4, 2): 11.064709488501185,
}
"""j_{m,n}: the n-th positive zero of J_m."""

ZEROS_OF_DERIVATIVE = {
    (0, 1): 3.8317059702075125,
    (0, 2): 7.015586669815619,
    (0, 3): 10.173468135062722,
    (0, 4): 13.323691936314223,
    (1, 1): 1.8411837813406595,
    (1, 2): 5.3314427735250325,
    (1, 3): 8.536316366346286,
    (1, 4): 11.706004902592063,
    (2, 1): 3.0542369282271404,
    (3, 1): 4.201188941210528,
    (4, 1): 5.317553126083994,
}
"""j'_{m,n}: the n-th positive zero of J_m'; the zero of J₀' at the origin does not count."""


def bessel_j(order: int, x: float) -> float:
    """J_m(x) = (1/π) ∫₀^π cos(mτ − x sin τ) dτ, by the midpoint rule.

    The integrand is periodic and analytic, so 64 points give full precision up to |x| ≈ 60.
    """
    nodes = [(i + 0.5) * math.pi / 64 for i in range(64)]
    return math.fsum(math.cos(order * tau - x * math.sin(tau)) for tau in nodes) / 64
