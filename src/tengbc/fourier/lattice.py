"""Equispaced points of a periodic box and the waves they carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.fft
from jaxtyping import Bool, Complex, Float

from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain

Array = np.ndarray
FULLEST = 2 / 3
"""The part of the waves that is kept: products of two of them then alias onto none of these."""


@dataclass(frozen=True)
class Lattice:
    """n₁ × … × n_d points of a periodic box; real fields have half a spectrum of waves.

    Fields are arrays (…, n₁, …, n_d), spectra (…, n₁, …, n_d/2 + 1): u = Σ û_k exp(i k·(x − lower))
    up to the usual factor 1/∏nᵢ of the transform.
    """

    lower: tuple[float, ...]
    lengths: tuple[float, ...]
    shape: tuple[int, ...]

    @property
    def dim(self) -> int:
        """The number of axes d."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of points."""
        return math.prod(self.shape)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that are transformed: the last d."""
        return tuple(range(-self.dim, 0))

    @cached_property
    def points(self) -> Float[Array, "d ..."]:
        """The coordinates of all points, one array per axis."""
        axes = [
            low + length * np.arange(n) / n
            for low, length, n in zip(self.lower, self.lengths, self.shape, strict=True)
        ]
        return np.stack(np.meshgrid(*axes, indexing="ij"))

    @cached_property
    def numbers(self) -> Float[Array, "d ..."]:
        """How often each wave goes up and down along each axis."""
        axes = [np.fft.fftfreq(n, 1 / n) for n in self.shape[:-1]]
        axes.append(np.arange(self.shape[-1] // 2 + 1, dtype=np.float64))
        return np.stack(np.meshgrid(*axes, indexing="ij"))

    @cached_property
    def waves(self) -> Float[Array, "d ..."]:
        """The wave vectors k."""
        unit = 2 * np.pi / np.array(self.lengths)
        return self.numbers * unit.reshape(-1, *[1] * self.dim)

    @cached_property
    def fullness(self) -> Float[Array, "..."]:
        """Where in the spectrum a wave stands: 0 the constant, 1 the shortest that is kept."""
        most = FULLEST * np.array(self.shape).reshape(-1, *[1] * self.dim) / 2
        return np.max(np.abs(self.numbers) / most, axis=0)

    @cached_property
    def kept(self) -> Bool[Array, "..."]:
        """The waves that are kept: two thirds along each axis."""
        return self.fullness < 1

    @cached_property
    def energy_weights(self) -> Float[Array, "..."]:
        """How often each stored wave counts: those with k_d ≠ 0 stand for −k too."""
        return np.where(self.numbers[-1] > 0, 2.0, 1.0)

    def forward(self, u: Float[Array, "..."], workers: int = 1) -> Complex[Array, "..."]:
        """The spectrum of a field."""
        return np.asarray(scipy.fft.rfftn(u, axes=self.axes, workers=workers))

    def backward(self, modes: Complex[Array, "..."], workers: int = 1) -> Float[Array, "..."]:
        """The field of a spectrum."""
        return np.asarray(scipy.fft.irfftn(modes, s=self.shape, axes=self.axes, workers=workers))

    def tail(self, modes: Complex[Array, "..."]) -> float:
        """The relative size of the shortest waves that are kept, a tenth along each axis.

        At least two numbers along each axis count: of a symmetric field every other wave is zero.
        """
        energy = self.energy_weights * np.abs(modes) ** 2
        most = FULLEST * np.array(self.shape) / 2
        first = np.minimum(0.9 * most, np.ceil(most) - 2).reshape(-1, *[1] * self.dim)
        short = np.any(np.abs(self.numbers) >= first, axis=0)
        outer = energy[..., short & self.kept].sum()
        return float(np.sqrt(outer / max(energy.sum(), 1e-300)))

    def resample(self, modes: Complex[Array, "..."], other: Lattice) -> Complex[Array, "..."]:
        """The same waves on another lattice; waves that it does not keep are dropped."""
        result = np.zeros((*modes.shape[: -self.dim], *other.numbers.shape[1:]), complex)
        both = [min(n, m) // 2 for n, m in zip(self.shape, other.shape, strict=True)]
        blocks = [()]
        for half in both[:-1]:
            blocks = [(*b, part) for b in blocks for part in (slice(half), slice(-half + 1, None))]
        for block in blocks:
            place = (..., *block, slice(both[-1]))
            result[place] = modes[place]
        return result * other.kept * (other.size / self.size)


def box_lattice(domain: Domain, resolution: int | Sequence[int]) -> Lattice:
    """The lattice of a periodic box, `resolution` points along every axis or each."""
    if not domain.periodic:
        raise UsageError(
            f"Waves need a periodic box, but the domain is "
            f"{domain.describe()}; choose another solver."
        )
    dim = domain.dim
    shape = (resolution,) * dim if isinstance(resolution, int) else tuple(resolution)
    if len(shape) != dim or any(n < 8 or n % 2 for n in shape):
        raise UsageError(
            f"resolution is {resolution}, but it must be even and at least 8, one number or "
            f"{dim}; change it."
        )
    lower, upper = domain.bounds
    return Lattice(tuple(lower.tolist()), tuple((upper - lower).tolist()), shape)
