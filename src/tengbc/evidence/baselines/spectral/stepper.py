"""Runge–Kutta steps of order four in which the linear part is exact (integrating factor)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Complex

from tengbc.evidence.baselines.spectral.terms import Push, Terms, symbol
from tengbc.fourier import Lattice

Array = np.ndarray


class Stepper:
    """û' = cû + N(û, t): classical RK4 for exp(−ct)û on one lattice."""

    def __init__(self, terms: Terms, lattice: Lattice, workers: int = 1):
        self.lattice, self.push = lattice, Push(terms, lattice, workers)
        self._symbol, self._linear = symbol(terms, lattice), not terms.evaluated
        self._dt, self._half = 0.0, np.zeros(())

    def step(self, modes: Complex[Array, "m ..."], t: float, dt: float) -> Complex[Array, "m ..."]:
        """The spectrum at t + Δt."""
        if dt != self._dt:
            self._dt, self._half = dt, np.exp(self._symbol * (dt / 2))
        half = self._half  # exp(cΔt/2)
        if self._linear:
            return half**2 * modes
        first = self.push(modes, t)
        moved = half * modes
        second = self.push(moved + dt / 2 * (half * first), t + dt / 2)
        third = self.push(moved + dt / 2 * second, t + dt / 2)
        moved *= half
        fourth = self.push(moved + dt * (half * third), t + dt)
        moved += dt / 6 * (half * half * first + 2 * half * (second + third) + fourth)
        return moved
