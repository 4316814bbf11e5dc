"""The interval."""

from dataclasses import dataclass
from typing import final

from tengbc.geometry import checks
from tengbc.geometry.cartesian import Cartesian


@final
@dataclass(frozen=True)
class Interval(Cartesian):
    """(start, end) with segments "left" and "right", a single point each, of weight one."""

    start: float
    end: float

    def __post_init__(self) -> None:
        start, end = checks.finite(self.start, "start"), checks.finite(self.end, "end")
        checks.box((start,), (end,))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", end)

    @property
    def _corners(self) -> tuple[tuple[float], tuple[float]]:
        return (self.start,), (self.end,)
