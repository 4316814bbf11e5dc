"""A Runge–Kutta method is data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from tengbc.errors import UsageError


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau: stages Uᵢ = u + Δt Σⱼ aᵢⱼ kⱼ, kⱼ = L(Uⱼ, t + cⱼΔt), step u + Δt Σ bⱼ kⱼ."""

    name: str
    order: int
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    def __post_init__(self):
        a, b, c = np.array(self.a), np.array(self.b), np.array(self.c)
        if not np.allclose(a.sum(axis=1), c, atol=1e-14) or abs(b.sum() - 1) > 1e-14:
            raise UsageError(
                f"The tableau {self.name} is inconsistent: each row of a must add up to c and b to "
                f"one; correct its entries."
            )

    @property
    def stages(self) -> int:
        """How often L is evaluated in one step."""
        return len(self.b)


EULER = Tableau(
    name="euler",
    order=1,
    a=((0.0,),),
    b=(1.0,),
    c=(0.0,),
)

HEUN = Tableau(
    name="heun",
    order=2,
    a=(
        (0.0, 0.0),
        (1.0, 0.0),
    ),
    b=(1 / 2, 1 / 2),
    c=(0.0, 1.0),
)

RK4 = Tableau(
    name="rk4",
    order=4,
    a=(
        (0.0, 0.0, 0.0, 0.0),
        (1 / 2, 0.0, 0.0, 0.0),
        (0.0, 1 / 2, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
    ),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    c=(0.0, 1 / 2, 1 / 2, 1.0),
)

SSP104 = Tableau(
    name="ssp104",
    order=4,
    a=(
        *((1 / 6,) * i + (0.0,) * (10 - i) for i in range(5)),
        *((1 / 15,) * 5 + (1 / 6,) * i + (0.0,) * (5 - i) for i in range(5)),
    ),
    b=(1 / 10,) * 10,
    c=(0.0, 1 / 6, 1 / 3, 1 / 2, 2 / 3, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0),
)
"""Ketcheson (2008): ten stages of order four, stable on the real axis to −13.9, RK4 to −2.8."""


def explicit_step(
    tableau: Tableau,
    rate: Callable[[Any, Any], Any],
    y: Any,
    t: Any,
    dt: Any,
    carry: Callable[[Any, Any], Any] = lambda y, s: y,
) -> Any:
    """y at t + Δt from y' = rate(y, t), an array or a tree of them.

    With `carry(y, s)`, the exact flow over a time s ≥ 0 of a linear part that `rate` leaves out,
    this is the method with an integrating factor.
    """

    def advanced(weights: tuple[float, ...], node: float) -> Any:
        total = carry(y, node * dt)
        for weight, slope, place in zip(weights, slopes, tableau.c, strict=False):
            if weight:
                moved = carry(slope, (node - place) * dt)
                total = jax.tree.map(lambda u, k, w=weight: u + w * dt * k, total, moved)
        return total

    slopes = []
    for row, node in zip(tableau.a, tableau.c, strict=True):
        slopes.append(rate(advanced(row, node), t + node * dt))
    return advanced(tableau.b, 1.0)
