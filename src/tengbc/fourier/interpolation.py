"""Values of a spectrum anywhere in the box: a non-uniform fast Fourier transform.

The spectrum is divided by that of a bump ψ, transformed on a lattice twice as fine, and the values
there are combined with ψ as weights (Barnett, Magland & af Klinteberg 2019): exact up to about
10⁻¹³ of the field's size, at the price of one transform and WIDTHᵈ products per point.
"""

from functools import lru_cache

import numpy as np
import scipy.sparse
from jaxtyping import Complex, Float

from tengbc.fourier.lattice import Lattice

Array = np.ndarray
WIDTH = 14
"""Fine points under the bump, along each axis."""
STEEPNESS = 2.30 * WIDTH
CHUNK = 32768
"""Points whose weights are held at a time."""


class Interpolation:
    """The way from spectra on a lattice to values at fixed points x (n, d)."""

    def __init__(self, lattice: Lattice, x: Float[Array, "n d"]):
        self.lattice = lattice
        self.fine = tuple(2 * n for n in lattice.shape)
        self._points = x
        self._matrix = self._weights(x) if len(x) <= CHUNK else None

    def __call__(self, modes: Complex[Array, "c ..."]) -> Float[Array, "c n"]:
        """The values of several fields at the points."""
        fine = Lattice(self.lattice.lower, self.lattice.lengths, self.fine)
        padded = self._padded(modes / _bump_spectrum(self.lattice.shape), fine)
        values = fine.backward(padded).reshape(len(modes), -1).T
        if self._matrix is not None:
            return np.ascontiguousarray((self._matrix @ values).T)
        parts = [
            self._weights(self._points[first : first + CHUNK]) @ values
            for first in range(0, len(self._points), CHUNK)
        ]
        return np.ascontiguousarray(np.concatenate(parts).T)

    def _padded(self, modes: Complex[Array, "c ..."], fine: Lattice) -> Complex[Array, "c ..."]:
        return self.lattice.resample(modes * self.lattice.kept, fine)

    def _weights(self, x: Float[Array, "n d"]) -> scipy.sparse.csr_matrix:
        """Row i holds ψ at the fine points around x_i, a product over the axes."""
        index = np.zeros((len(x), 1), dtype=np.int64)
        weight = np.ones((len(x), 1))
        for axis, n in enumerate(self.fine):
            place = (x[:, axis] - self.lattice.lower[axis]) / self.lattice.lengths[axis] * n
            first = np.ceil(place - WIDTH / 2).astype(np.int64)
            near = first[:, None] + np.arange(WIDTH)
            bump = _bump((near - place[:, None]) * (2 / WIDTH))
            index = (index[:, :, None] * n + (near % n)[:, None, :]).reshape(len(x), -1)
            weight = (weight[:, :, None] * bump[:, None, :]).reshape(len(x), -1)
        rows = np.arange(len(x) + 1) * weight.shape[1]
        size = int(np.prod(self.fine))
        return scipy.sparse.csr_matrix((weight.ravel(), index.ravel(), rows), (len(x), size))


def _bump(z: Float[Array, "..."]) -> Float[Array, "..."]:
    """ψ(z) = exp(β(√(1 − z²) − 1)) on |z| ≤ 1, zero elsewhere."""
    return np.exp(STEEPNESS * (np.sqrt(np.maximum(1 - z * z, 0)) - 1)) * (np.abs(z) <= 1)


@lru_cache(maxsize=16)
def _bump_spectrum(shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Σ_j ψ(2(j − s)/w)·exp(ik·(j − s)h) over fine points j, by quadrature: a product over axes."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    result = np.ones((1,) * len(shape))
    for axis, n in enumerate(shape):
        last = axis == len(shape) - 1
        numbers = np.arange(n // 2 + 1) if last else np.fft.fftfreq(n, 1 / n)
        phase = numbers[:, None] * (2 * np.pi / (2 * n)) * (WIDTH / 2) * nodes
        spectrum = WIDTH / 2 * np.cos(phase) @ (weights * _bump(nodes))
        result = result * spectrum.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return result
