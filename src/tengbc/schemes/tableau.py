"""A Runge–Kutta method is data."""

from dataclasses import dataclass

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
