"""The rectangle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from tengbc.geometry import checks
from tengbc.geometry.cartesian import Cartesian


@final
@dataclass(frozen=True)
class Rectangle(Cartesian):
    """(lower₁, upper₁) × (lower₂, upper₂) with segments left, right, bottom and top."""

    lower: Sequence[float] = (0.0, 0.0)
    upper: Sequence[float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        lower, upper = checks.box(self.lower, self.upper, dim=2)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def _corners(self) -> tuple[Sequence[float], Sequence[float]]:
        return self.lower, self.upper
