"""What spaces of a weak form share: ċ = F − Kc for unknowns whose norm is that of u."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Float

from tengbc.problem import Problem
from tengbc.projection import Fit
from tengbc.spaces.interface import AbstractLinearisedSpace

Array = np.ndarray


class AbstractWeakSpace(AbstractLinearisedSpace):
    """Unknowns c with M = 1; conditions are part of K and F, a stage has no rows for them."""

    problem: Problem

    @property
    @abc.abstractmethod
    def by_modes(self) -> bool:
        """Whether all step lengths share one set of modes, so that a new one costs nothing."""

    @abc.abstractmethod
    def load(self, t: float) -> Float[Array, " n"]:
        """F(t): sources and boundary data of a linear problem."""

    @abc.abstractmethod
    def moved(self, c: Float[Array, " n"]) -> Float[Array, " n"]:
        """Kc."""

    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        return c

    def remainders(self, heads, times):
        found = [self.remainder(c, float(t))[0] for c, t in zip(heads, times, strict=True)]
        return np.stack(found), np.zeros((len(found), 0))

    def propagator(self, taus, shares, mixing, weights):
        def step(c: Float[Array, " n"], times: Float[Array, " s"]) -> Float[Array, " n"]:
            inside = np.stack([self.load(float(t)) for t in times])
            new = np.zeros(len(c))
            for tau, share, beta, weight in zip(taus, shares, mixing, weights, strict=True):
                tau = complex(tau) if tau.imag else float(tau.real)
                right = share * c + tau * (beta @ inside)
                new += np.real(weight * self.solve(tau, right, np.zeros(0)))
            return new

        return step

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        return self.head(theta)[:, None]

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        c = self.head(theta)
        return (self.remainder(c, t)[0] - self.moved(c))[:, None]

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        return self.boundary_fit(target[:, 0], t)

    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        return Fit(self.theta(c), 0.0, 0.0, float(np.linalg.norm(c)), len(c))

    def size(self, theta: Float[Array, " p"]) -> float:
        return float(np.linalg.norm(self.head(theta)) / self._root_measure)

    @cached_property
    def _root_measure(self) -> float:
        return float(np.sqrt(self.problem.domain.measure))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        return {"rank": float(len(self.head(theta)))}

    def noise(self, c: Float[Array, "..."]) -> float:
        return 1e3 * float(np.finfo(float).eps) * float(np.linalg.norm(c))
