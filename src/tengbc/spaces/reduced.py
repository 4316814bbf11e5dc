"""The few directions in which the solution of a linear problem moves, found by solving.

With P = (1 + γK)⁻¹ the powers Pʲ of the initial values and of the loads span what e^(−tK) makes of
them: some ten of each for six digits, however many unknowns there are, and up to sixty where u is
carried along (a rational Krylov space).
One factorisation and twenty solves take the place of two factorisations for each step length, and
steps cost next to nothing. Whether the directions suffice is seen as they are added.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sla
from jaxtyping import Float, Inexact

from tengbc.spaces.energy import EnergySpace
from tengbc.spaces.weak import AbstractWeakSpace

Array = np.ndarray
POLE = 1 / 40
"""γ as part of the time: between the first moment that counts and the end."""
LOAD_TIMES = 65
"""Times at which boundary data that change are looked at."""
MOST_LOADS = 6
"""Loads of more independent shapes than this make a space that is not small."""
MOST_DIRECTIONS = 150
ROUND = 2
"""Powers of P between two looks at what they changed."""


class ReducedSpace(AbstractWeakSpace):
    """Functions of another space that are combinations of some of its own, orthonormal ones."""

    def __init__(self, whole: EnergySpace, basis: Float[Array, "n m"]):
        self.whole, self.basis, self.problem = whole, basis, whole.problem
        self.parameters, self.network = whole.parameters, whole.network
        self._small = _Small(whole, basis)

    @property
    def linear(self) -> bool:
        return True

    @property
    def by_modes(self) -> bool:
        return True

    def head(self, theta: Float[Array, " p"]) -> Float[Array, " m"]:
        return self.whole.head(theta) @ self.basis

    def theta(self, c: Float[Array, " m"]) -> Float[Array, " p"]:
        return self.whole.theta(self.basis @ c)

    def linearise(self, t: float, c: Float[Array, " m"]) -> None:
        """Nothing to be done: the space is linear."""

    def load(self, t: float) -> Float[Array, " m"]:
        return self.whole.load(t) @ self.basis

    def moved(self, c: Float[Array, " m"]) -> Float[Array, " m"]:
        return self._small.matrix @ c

    def remainder(self, c, t: float):
        return self.load(float(t)), np.zeros(0)

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " m"]:
        return self._small.solve(tau, right)


class _Small:
    """K in some directions, a small matrix."""

    def __init__(self, whole: EnergySpace, basis: Float[Array, "n m"]):
        self.matrix = basis.T @ (whole.stiffness @ basis)
        self._factors: dict[complex, tuple[Array, Array]] = {}

    def solve(self, tau: complex, right: Inexact[Array, " m"]) -> Inexact[Array, " m"]:
        """(1 + τK)⁻¹ right."""
        if tau not in self._factors:
            self._factors[tau] = sla.lu_factor(np.eye(len(right)) + tau * self.matrix)
        return sla.lu_solve(self._factors[tau], right)

    def after(
        self, delay: float, start: Float[Array, " m"], loads: Float[Array, "m r"]
    ) -> Float[Array, "m k"]:
        """e^(−tK)·start and what each load, switched on at t = 0, has made by then."""
        m, r = loads.shape
        whole = np.zeros((m + r, m + r))
        whole[:m, :m], whole[:m, m:] = -delay * self.matrix, delay * loads
        found = sla.expm(whole)[:m]
        return np.column_stack([found[:, :m] @ start, found[:, m:]])


def reduced(
    space: EnergySpace, start: Float[Array, " n"], end: float, early: float, tolerance: float
) -> ReducedSpace | None:
    """The directions in which u moves from time `early` on; None if there are no few of them.

    What directions miss is less than `tolerance`, as a part of u.
    """
    if not (space.linear and space.steady_source):
        return None
    loads = _loads(space, end)
    if loads.shape[1] > MOST_LOADS:
        return None
    gamma = POLE * end
    solve = lambda right: space.solve(gamma, right, np.zeros(0))
    found = np.zeros((len(start), 0))
    newest = _orthonormal(found, np.stack([start, *(solve(load) for load in loads.T)], axis=1))
    delays = [early, end / 4, end] if _steady(space) else [early / 4, early, end / 4, end]
    before: list[Array] = []
    for k in range(1, MOST_DIRECTIONS):
        found = np.concatenate([found, newest], axis=1)
        if not newest.shape[1]:
            break
        if found.shape[1] > MOST_DIRECTIONS:
            return None
        newest = _orthonormal(found, np.stack([solve(right) for right in newest.T], axis=1))
        if k % ROUND:
            continue
        small = _Small(space, found)
        now = [found @ small.after(t, start @ found, found.T @ loads) for t in delays]
        size = max(float(np.linalg.norm(state)) for state in now)
        apart = [np.linalg.norm(a - b) for a, b in zip(now, before, strict=False)]
        if before and max(apart) <= tolerance * size:
            break
        before = now
    return ReducedSpace(space, found)


def _steady(space: EnergySpace) -> bool:
    return all(space.steady_data.values())


def _loads(space: EnergySpace, end: float) -> Float[Array, "n r"]:
    """Loads that all others during the time are combinations of, as large as they are."""
    if _steady(space):
        return space.load(0.0)[:, None]
    every = np.stack([space.load(float(t)) for t in np.linspace(0.0, end, LOAD_TIMES)], axis=1)
    vectors, sizes, _ = np.linalg.svd(every, full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]
    return (vectors * (sizes / np.sqrt(LOAD_TIMES)))[:, kept]


def _orthonormal(found: Float[Array, "n m"], new: Float[Array, "n k"]) -> Float[Array, "n _k"]:
    """What is new of some directions, orthonormal."""
    kept: list[Array] = []
    for direction in new.T:
        length, before = np.linalg.norm(direction), np.column_stack([found, *kept])
        for _ in range(2):
            direction = direction - before @ (before.T @ direction)
        left = np.linalg.norm(direction)
        if left > 1e-12 * length:
            kept.append(direction / left)
    return np.column_stack([found[:, :0], *kept])
