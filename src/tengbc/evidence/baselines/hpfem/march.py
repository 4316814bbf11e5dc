"""Radau IIA for M u' = f(t) − K u + N(u) with some unknowns prescribed.

What is marched is m = Mu tested with the free basis functions, so that prescribed values may jump
at the start and their rates are never asked for:

    M Uᵢ = m + Δt Σⱼ aᵢⱼ (f − K U + N(U))ⱼ.

With A⁻¹ = TΛT⁻¹ the stages fall apart into systems λM + ΔtK, one for each conjugate pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.sparse.linalg import SuperLU, splu

from tengbc.errors import DivergedError
from tengbc.schemes.radau import collocation_matrix, radau_nodes

if TYPE_CHECKING:
    from tengbc.evidence.baselines.hpfem.weak_form import HpSystem

Array = np.ndarray
Complex128 = NDArray[np.complex128]
KEPT = 3
"""Step lengths whose factorisations are kept; there are few at a time."""
NEWTON_TOLERANCE = 1e-11
MOST_ITERATIONS = 30
SLOW = 8
"""Iterations after which the Jacobian is renewed at the next step."""
FIRST_SHARE = 0.25
"""Of the time that is left to the start, the part at which the next shorter steps begin."""


def time_grid(
    times: Sequence[float] | Array, step: float, levels: int = 0, per_level: int = 1
) -> list[tuple[float, float, int]]:
    """(start, length, number) of equal steps that meet all times, no longer than `step`.

    `levels` intervals before the first time are each a quarter of the next, with at least
    `per_level` steps: where data jump, u changes on every scale of time.
    """
    ends = [float(t) for t in times if t > 0]
    early = [ends[0] * FIRST_SHARE**level for level in range(levels, 0, -1)]
    legs, start = [], 0.0
    for end in [*early, *ends]:
        least = per_level if end <= ends[0] else 1
        count = max(least, int(np.ceil((end - start) / step * (1 - 1e-9))))
        legs.append((start, (end - start) / count, count))
        start = end
    return legs


class RadauMarch:
    """Steps of a system, of any length, with `stages` stages."""

    def __init__(self, system: HpSystem, stages: int):
        self.system = system
        self.nodes = radau_nodes(stages)
        self.inverse = np.linalg.inv(collocation_matrix(self.nodes))
        found = np.linalg.eig(self.inverse)
        eigenvalues = np.asarray(found.eigenvalues, dtype=np.complex128)
        vectors: Complex128 = np.asarray(found.eigenvectors, dtype=np.complex128)
        self._left = np.linalg.inv(vectors)
        self._used = np.flatnonzero(eigenvalues.imag > -1e-12)
        self._eigenvalues, self._vectors = eigenvalues, vectors
        self._free = np.flatnonzero(system.free)
        self._held = np.flatnonzero(~system.free)
        self._factors: dict[float, list[SuperLU]] = {}
        self._matrix_at: tuple[Array, float] | None = None
        self._linear = not (system.nonlinear or system.matrix_changes)

    @cached_property
    def _mass(self) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
        return self._split(self.system.mass)

    def _split(self, matrix: scipy.sparse.csr_matrix):
        rows = matrix[self._free]
        return rows[:, self._free], rows[:, self._held]

    def states(
        self, legs: list[tuple[float, float, int]], initial: Float[Array, " n"]
    ) -> Iterator[tuple[float, Float[Array, " n"]]]:
        """The time and u at the end of each step, from (u₀, φ)."""
        momentum = initial[self._free]
        u = self.settled(momentum)
        size = max(float(np.abs(u).max(initial=0.0)), 1.0)
        self._matrix_at = (u, 0.0)
        for start, length, count in legs:
            length = float(f"{length:.12g}")  # so that equal lengths are found to be equal
            for index in range(count):
                t = start + index * length
                u, momentum = self._step(u, momentum, t, length)
                if not np.abs(u).max() <= 1e6 * size:
                    raise DivergedError(
                        f"The march of hp-fem left every bound at t = {t:g}; take smaller steps."
                    )
                yield t + length, u

    def settled(self, momentum: Array) -> Array:
        """The L² projection of the initial values that has the prescribed ones on the boundary."""
        inside, rim = self._mass
        u = self.system.prescribed(0.0)
        u[self._free] = _factorise(inside).solve(momentum - rim @ u[self._held])
        return u

    def _step(self, u: Array, momentum: Array, t: float, length: float) -> tuple[Array, Array]:
        times = t + self.nodes * length
        held = np.stack([self.system.prescribed(time)[self._held] for time in times])
        inside, rim = self._mass
        known = momentum - (rim @ held.T).T
        if self._linear:
            _, coupling = self._stiffness
            loads = np.stack([self.system.load(time)[self._free] for time in times])
            right = self.inverse @ known + length * (loads - (coupling @ held.T).T)
            stages = self._solve(right, length)
        else:
            stages = self._newton(u, held, known, times, length)
        new = np.zeros_like(u)
        new[self._free], new[self._held] = stages[-1], held[-1]
        return new, inside @ stages[-1] + rim @ held[-1]

    @cached_property
    def _stiffness(self):
        return self._split(self.system.matrix(0.0))

    def _newton(self, u: Array, held: Array, known: Array, times: Array, length: float) -> Array:
        """Simplified Newton's method: the Jacobian is kept from step to step while it serves."""
        stages = np.tile(u[self._free], (len(times), 1))
        inside, _ = self._mass
        for fresh in (False, True):
            if fresh:
                self._renew(u, times[-1])
                stages = np.tile(u[self._free], (len(times), 1))
            before = np.inf
            for iteration in range(MOST_ITERATIONS):
                rates = np.stack(
                    [self._rate(*given) for given in zip(stages, held, times, strict=True)]
                )
                defect = self.inverse @ ((inside @ stages.T).T - known) - length * rates
                change = self._solve(-defect, length)
                stages = stages + change
                moved = np.linalg.norm(change) / max(np.linalg.norm(stages), 1e-300)
                if moved < NEWTON_TOLERANCE or (moved < 1e-9 and moved > before / 2):
                    if iteration > SLOW:
                        self._renew(u, times[-1])
                    return stages
                if not np.isfinite(moved) or (iteration > 3 and moved > 2 * before):
                    break
                before = moved
        raise DivergedError(
            f"The stages of hp-fem do not converge at t = {times[-1]:g}; take smaller steps."
        )

    def _rate(self, stage: Array, held: Array, t: float) -> Array:
        """(f − K u + N(u)) of the free basis functions."""
        u = np.zeros(self.system.unknowns)
        u[self._free], u[self._held] = stage, held
        rate = self.system.load(t) - self.system.matrix(t) @ u
        if self.system.nonlinear:
            rate += self.system.reaction(u)
        return rate[self._free]

    def _renew(self, u: Array, t: float) -> None:
        self._matrix_at = (u, t)
        self._factors.clear()

    def _jacobian(self) -> scipy.sparse.csr_matrix:
        if self._linear:
            return self._stiffness[0]
        assert self._matrix_at is not None
        u, t = self._matrix_at
        matrix = self.system.matrix(t)
        if self.system.nonlinear:
            matrix = matrix - self.system.reaction_slope(u)
        return self._split(matrix)[0]

    def _solve(self, right: Float[Array, "s n"], length: float) -> Float[Array, "s n"]:
        """(A⁻¹ ⊗ M + Δt I ⊗ J)⁻¹ right."""
        if length not in self._factors:
            while len(self._factors) >= KEPT:
                self._factors.pop(next(iter(self._factors)))
            jacobian, inside = self._jacobian(), self._mass[0]
            self._factors[length] = [
                _factorise(_real(self._eigenvalues[k]) * inside + length * jacobian)
                for k in self._used
            ]
        turned = np.asarray(self._left @ right, dtype=np.complex128)
        total = np.zeros(right.shape)
        for k, factor in zip(self._used, self._factors[length], strict=True):
            eigenvalue = _real(self._eigenvalues[k])
            if isinstance(eigenvalue, float):
                part = np.outer(self._vectors[:, k].real, factor.solve(turned[k].real))
            else:  # with its conjugate: twice the real part
                part = 2 * np.outer(self._vectors[:, k], factor.solve(turned[k])).real
            total += part
        return total


def _real(value: complex) -> float | complex:
    return float(value.real) if abs(value.imag) < 1e-12 else complex(value)


def _factorise(matrix: scipy.sparse.csr_matrix) -> SuperLU:
    """Diagonal pivots wherever they will do: the pattern is symmetric."""
    options = {"SymmetricMode": True}
    return splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=1e-3, options=options)
