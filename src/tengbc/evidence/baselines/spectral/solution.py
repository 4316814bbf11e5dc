"""The Fourier solution: spectra at the stored times, callable anywhere in the box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import ArrayLike

from tengbc.errors import OutsideError
from tengbc.fourier import Interpolation, Lattice
from tengbc.pointwise import as_points
from tengbc.problem import Problem

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SpectralSolution:
    """u(x, t) at the stored `times`: for each a lattice and the spectrum on it.

    `seconds` tells where the time went; `facts` holds the choices made; `tails` the relative size
    of the shortest waves at each stored time, which tells whether they suffice.
    """

    problem: Problem
    times: Float[Array, " k"]
    lattices: Sequence[Lattice]
    spectra: Sequence[Complex[Array, "m ..."]]
    seconds: dict[str, float] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)

    @property
    def tails(self) -> Float[Array, " k"]:
        """How much of u sits in the shortest tenth of the waves, for each stored time."""
        pairs = zip(self.lattices, self.spectra, strict=True)
        return np.array([lattice.tail(modes) for lattice, modes in pairs])

    @property
    def total_seconds(self) -> float:
        """Start and march together, compilation apart."""
        return sum(value for phase, value in self.seconds.items() if phase != "compile")

    def __call__(self, x: ArrayLike, t: int | float) -> Float[Array, "..."] | np.floating:
        """u at points x, one (d,) or many (n, d), at a stored time t."""
        points = as_points(x, self.problem.domain.dim)
        values = self.at_times(np.atleast_2d(points), [t])[0]
        return values if points.ndim == 2 else values[0]

    def at_times(self, x: ArrayLike, times: Sequence[float] | Array) -> Float[Array, "k n ..."]:
        """u at points x (n, d) and several stored times; nothing is interpolated in time."""
        points = np.atleast_2d(as_points(x, self.problem.domain.dim))
        known: dict[Lattice, Interpolation] = {}
        result = np.zeros((len(times), len(points), *self.problem.shape))
        for row, t in zip(result, times, strict=True):
            index = self._index(t)
            lattice = self.lattices[index]
            if lattice not in known:
                known[lattice] = Interpolation(lattice, points)
            values = known[lattice](self.spectra[index])
            row[...] = values.T.reshape(row.shape)
        return result

    def _index(self, t: int | float) -> int:
        index = int(np.argmin(np.abs(self.times - t)))
        if not abs(self.times[index] - t) <= 1e-12 * max(1.0, self.times[-1]):
            raise OutsideError(
                f"The Fourier solution holds no values at t = {t:g}, only at {len(self.times)} "
                f"times from {self.times[0]:g} to {self.times[-1]:g}; pass times=… with the ones "
                f"you need."
            )
        return index
