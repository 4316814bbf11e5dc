"""The few directions in which the solution of a linear problem moves, found by solving.

With P = (1 + γK)⁻¹ the powers Pʲ of the initial values and of the loads span what e^(−tK) makes of
them: some ten of each for six digits, however many unknowns there are, and up to sixty where u is
carried along (a rational Krylov space).
One factorisation and twenty solves take the place of two factorisations for each step length, and
steps cost next to nothing. Whether the directions suffice is seen as they are added. Where K is
symmetric its own modes serve: of few unknowns all of them, of many those within the directions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
INDEPENDENT = 1e-12
"""A direction of which less than this part is new is left out."""


class ReducedSpace(AbstractWeakSpace):
    """Functions of another space that are combinations of some of its own, orthonormal ones."""

    def __init__(
        self, whole: EnergySpace, basis: Float[Array, "n m"], small: SmallMatrix | DiagonalMatrix
    ):
        self.whole, self.basis, self.problem = whole, basis, whole.problem
        self.parameters, self.network = whole.parameters, whole.network
        self._small = small
        self._boundary = [(load.T @ basis).T for load in whole.loads]
        self._steady: Float[Array, " m"] | None = None

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
        if self._steady is None or not self.whole.steady_source:
            self._steady = self.whole.source(t) @ self.basis
        data = self.whole.data(t)
        return self._steady + sum(load @ data[:, k] for k, load in enumerate(self._boundary))

    def moved(self, c: Float[Array, " m"]) -> Float[Array, " m"]:
        return self._small.times(c)

    def remainder(self, c, t: float):
        return self.load(float(t)), np.zeros(0)

    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " m"]:
        return self._small.solve(tau, right)


class SmallMatrix:
    """K in some directions."""

    def __init__(self, matrix: Float[Array, "m m"]):
        self.matrix = matrix
        self._factors: dict[complex, tuple[Array, Array]] = {}

    def times(self, c: Float[Array, " m"]) -> Float[Array, " m"]:
        """Kc."""
        return self.matrix @ c

    def solve(self, tau: complex, right: Inexact[Array, " m"]) -> Inexact[Array, " m"]:
        """(1 + τK)⁻¹ right."""
        if tau not in self._factors:
            self._factors[tau] = sla.lu_factor(np.eye(len(right)) + tau * self.matrix)
        return sla.lu_solve(self._factors[tau], right, check_finite=False)

    def after(
        self,
        early: float,
        doublings: Sequence[int],
        start: Float[Array, " m"],
        loads: Float[Array, "m r"],
    ) -> list[Float[Array, "m k"]]:
        """e^(−tK)·start and what each load, switched on at t = 0, has made by then.

        The times are `early` doubled so many times, given in rising order: each is a square away.
        """
        m, r = loads.shape
        power = np.zeros((m + r, m + r))
        power[:m, :m], power[:m, m:] = -early * self.matrix, early * loads
        power, done, found = sla.expm(power), 0, []
        for wanted in doublings:
            for _ in range(wanted - done):
                power = power @ power
            done = wanted
            found.append(np.column_stack([power[:m, :m] @ start, power[:m, m:]]))
        return found


class DiagonalMatrix:
    """K in its own modes."""

    def __init__(self, values: Float[Array, " m"]):
        self.values = values

    def times(self, c: Float[Array, " m"]) -> Float[Array, " m"]:
        """Kc."""
        return self.values * c

    def solve(self, tau: complex, right: Inexact[Array, " m"]) -> Inexact[Array, " m"]:
        """(1 + τK)⁻¹ right."""
        return right / (1.0 + tau * self.values)


class _Directions:
    """Orthonormal directions that grow in number, and K in them."""

    def __init__(self, space: EnergySpace):
        self.space = space
        size = space.form.size
        self._found, self._moved = (np.zeros((size, MOST_DIRECTIONS)) for _ in range(2))
        self._small = np.zeros((MOST_DIRECTIONS, MOST_DIRECTIONS))
        self.count = 0

    @property
    def found(self) -> Float[Array, "n m"]:
        return self._found[:, : self.count]

    @property
    def small(self) -> Float[Array, "m m"]:
        return self._small[: self.count, : self.count]

    def add(self, new: Float[Array, "n k"]) -> None:
        """Directions that are orthonormal to each other and to all before."""
        before, self.count = self.count, self.count + new.shape[1]
        part = slice(before, self.count)
        self._found[:, part], self._moved[:, part] = new, self.space.stiffness @ new
        self._small[: self.count, part] = self.found.T @ self._moved[:, part]
        self._small[part, :before] = new.T @ self._moved[:, :before]

    def new_in(self, given: Float[Array, "n k"]) -> Float[Array, "n _k"]:
        """What is new of some directions, orthonormal."""
        lengths = np.linalg.norm(given, axis=0)
        for _ in range(2):
            given = given - self.found @ (self.found.T @ given)
        kept: list[Array] = []
        for direction, length in zip(given.T, lengths, strict=True):
            for _ in range(2):
                for other in kept:
                    direction = direction - other * (other @ direction)
            left = np.linalg.norm(direction)
            if left > INDEPENDENT * length:
                kept.append(direction / left)
        return np.stack(kept, axis=1) if kept else given[:, :0]


def in_modes(space: EnergySpace) -> ReducedSpace:
    """A linear space of few unknowns and a symmetric K in all its modes."""
    values, vectors = space.modes
    return ReducedSpace(space, vectors, DiagonalMatrix(values))


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
    gamma, directions = POLE * end, _Directions(space)
    solve = lambda right: space.solve(gamma, right, np.zeros(0))
    newest = directions.new_in(np.column_stack([start, solve(loads)]))
    last = math.ceil(math.log2(end / early))
    first, doublings = end / 2**last, [0, max(last - 2, 0), last]
    if not _steady(space):
        first, doublings = first / 4, [0, *(n + 2 for n in doublings)]
    before: list[Array] = []
    for k in range(1, MOST_DIRECTIONS):
        if directions.count + newest.shape[1] > MOST_DIRECTIONS:
            return None
        directions.add(newest)
        if not newest.shape[1]:
            break
        if k % ROUND == 0:
            found = directions.found
            small = SmallMatrix(directions.small)
            now = small.after(first, doublings, start @ found, found.T @ loads)
            size = max(float(np.linalg.norm(state)) for state in now)
            apart = [_distance(a, b) for a, b in zip(now, before, strict=False)]
            if before and max(apart) <= tolerance * size:
                break
            before = now
        newest = directions.new_in(solve(newest))
    found, small = directions.found, directions.small
    if space.symmetric:
        values, vectors = np.linalg.eigh(small)
        return ReducedSpace(space, found @ vectors, DiagonalMatrix(values))
    return ReducedSpace(space, found.copy(), SmallMatrix(small.copy()))


def _distance(longer: Float[Array, "m k"], shorter: Float[Array, "_m k"]) -> float:
    """‖a − b‖ of states in directions of which the second has the first few only."""
    apart = longer.copy()
    apart[: len(shorter)] -= shorter
    return float(np.linalg.norm(apart))


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
