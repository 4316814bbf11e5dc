"""The box in any dimension."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from tengbc.geometry import checks
from tengbc.geometry.cartesian import Cartesian


@final
@dataclass(frozen=True)
class Box(Cartesian):
    """∏ᵢ (lowerᵢ, upperᵢ).

    Segments, lower face before upper: left and right (first axis), bottom and top (second), back
    and front (third), axis3-lower and axis3-upper (fourth), …
    """

    lower: Sequence[float]
    upper: Sequence[float]

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def _corners(self) -> tuple[Sequence[float], Sequence[float]]:
        return self.lower, self.upper
