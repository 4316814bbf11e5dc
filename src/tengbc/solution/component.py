"""One component of a solution: `solution["temperature"]`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.types import Time

if TYPE_CHECKING:
    from tengbc.solution.solution import Solution

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Component:
    """A component by its number; what one asks of it is asked of the solution."""

    solution: Solution
    index: int

    def __repr__(self) -> str:
        return f"<{self.name} of {self.solution!r}>"

    @property
    def name(self) -> str:
        """As it was given, else u₁, u₂, …"""
        return self.solution.problem.naming.symbols[self.index]

    def __call__(self, x: ArrayLike, t: Time | None = None, **choices: Any) -> Any:
        """Its values at points, as those of a solution."""
        return self._of(self.solution(x, t, **choices))

    def at_times(self, x: ArrayLike, times: Time | Sequence[Time] | Array, **choices: Any) -> Array:
        """Its values at points and several times."""
        return self._of(self.solution.at_times(x, times, **choices))

    def gradient(self, x: ArrayLike, t: Time, **choices: Any) -> Float[Array, "..."]:
        """Its gradient at points."""
        found = self.solution.gradient(x, t, **choices)
        return found[..., self.index, :] if self.solution.problem.shape else found

    def integral(self, t: Time | Sequence[float] | Array) -> Any:
        """Its integral over the domain, at one time or several."""
        return self._of(self.solution.integral(t))

    def flux(self, segment: str | None, t: Time | Sequence[float] | Array, **choices: Any) -> Any:
        """What enters of it through a boundary segment, at one time or several."""
        return self._of(self.solution.flux(segment, t, **choices))

    def plot(self, t: float | Sequence[float] | None = None, **choices: Any) -> Any:
        """Draw it at time t, or at several times."""
        return self.solution.plot(t, component=self.index, **choices)

    def animate(self, path: str | os.PathLike[str], **choices: Any) -> Path:
        """Write it in motion, as .gif or .mp4."""
        return self.solution.animate(path, component=self.index, **choices)

    def _of(self, values: Any) -> Any:
        return values[..., self.index] if self.solution.problem.shape else values
