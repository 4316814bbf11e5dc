"""Euler's own error on a heat problem, mode by mode: what no projection could avoid.

`python -m benchmarks.truncation` prints what `evidence/reproduction/paper.json` holds.

The exact solution misses Euler's formula by τ: u(t + Δt) = u + Δt L(u) + Δt τ. So the error of
exact Euler steps is zero at first, vanishes in the boundary condition, and obeys

    e(t + Δt) = e + Δt (L(e) − τ),   that is   eⱼ ← (1 − κμⱼ²Δt) eⱼ − Δt τⱼ

for its part along each eigenfunction of the Laplacian with the homogeneous condition.
"""

from __future__ import annotations

import jax
import numpy as np
import scipy.linalg
from jaxtyping import Float
from numpy.polynomial import chebyshev, legendre

from tengbc import problems
from tengbc.defaults import PAPER
from tengbc.equations import Heat
from tengbc.errors import UsageError
from tengbc.evidence.reproduction.catalog import GROUPS
from tengbc.geometry import AnnularSector, Disk
from tengbc.problem import Problem
from tengbc.solution.measure import TIMES

Array = np.ndarray
DEGREE, RADII, ANGLES, ORDERS, MODES = 36, 48, 64, 16, 24
"""Polynomials and nodes along the radius, nodes around, angular orders, modes of each."""
TIME_NODES = 56


def euler_error(problem: Problem, dt: float) -> Float[Array, "k 2"]:
    """Pairs (t, relative L² error) of exact Euler steps at the times where errors are measured."""
    assert problem.t_end is not None and isinstance(problem.equation, Heat)
    grid, weight, modes, decay = _modes(problem)
    kappa = float(problem.equation.kappa(grid[0], 0.0))
    steps = round(problem.t_end / dt)
    nodes = np.cos((np.arange(TIME_NODES) + 0.5) * np.pi / TIME_NODES)
    missed = _misses(problem, grid, (nodes + 1) / 2 * (problem.t_end - dt), dt)
    parts = (missed * weight) @ modes.T
    curve = chebyshev.chebfit(nodes, parts, TIME_NODES - 1)
    growth = 1 - kappa * decay * dt
    stable = np.abs(growth) < 1
    error, found = np.zeros(len(modes)), [(0.0, 0.0)]
    places = 2 * np.arange(steps) / (steps - 1) - 1
    taus = chebyshev.chebvander(places, TIME_NODES - 1) @ curve
    for n, tau in enumerate(taus, start=1):
        error = np.where(stable, growth * error - dt * tau, 0.0)
        if n * TIMES % steps == 0:
            t = n * dt
            size = np.sqrt(np.sum(weight * problem.exact(grid, t) ** 2))
            found.append((t, float(np.linalg.norm(error) / size)))
    return np.array(found)


def _misses(problem: Problem, grid: Array, times: Array, dt: float) -> Float[Array, "k n"]:
    """τ(x, t) = (u(t + Δt) − u(t)) / Δt − ∂ₜu(t)."""
    exact = problem.exact_function
    assert exact is not None

    def miss(x, t):
        now, rate = jax.jvp(lambda s: exact(x, s), (t,), (1.0,))
        return (exact(x, t + dt) - now) / dt - rate

    with jax.enable_x64(True):
        at_grid = jax.jit(jax.vmap(miss, in_axes=(0, None)))
        return np.stack([np.asarray(at_grid(grid, float(t))) for t in times])


def _modes(problem: Problem) -> tuple[Array, Array, Array, Array]:
    """Grid, weights of the area, orthonormal eigenfunctions on the grid and their −∇² values."""
    domain = problem.domain
    if isinstance(domain, Disk):
        inner, outer, whole = 0.0, domain.radius, True
        law = problem.conditions[domain.segments[0]]
    elif isinstance(domain, AnnularSector):
        inner, outer, whole = domain.inner, domain.outer, False
        law = problem.conditions["outer"]
    else:
        raise UsageError(
            f"Eigenfunctions are known on a disk and an annular sector, not on "
            f"{type(domain).__name__}; leave this comparison out."
        )
    assert law.coefficients is not None
    a, b, _ = (float(c(np.array([outer, 0.0]), 0.0)) for c in law.coefficients)
    slope = np.inf if b == 0 else a / b
    s, gauss = legendre.leggauss(RADII)
    r = inner + (outer - inner) * (s + 1) / 2
    span = 2 * np.pi if whole else np.pi / 2
    angle = (np.arange(ANGLES) + 0.5) * span / ANGLES
    waves = [(m, np.cos(m * angle)) for m in range(0, ORDERS + 1, 1 if whole else 2)]
    waves += [(m, np.sin(m * angle)) for m in range(1, ORDERS + 1 if whole else 1)]
    rows, values = [], []
    for order, wave in waves:
        radial, eigen = _radial(order, inner, outer, slope, r, gauss, fixed_inside=not whole)
        size = np.sqrt(np.sum(wave**2) * span / ANGLES)
        rows.append((radial[:, :, None] * (wave / size)).reshape(len(radial), -1))
        values.append(eigen)
    radius, angle = np.meshgrid(r, angle, indexing="ij")
    grid = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 2)
    weight = np.repeat(gauss * (outer - inner) / 2 * r, ANGLES) * span / ANGLES
    return grid, weight, np.concatenate(rows), np.concatenate(values)


def _radial(
    order: int,
    inner: float,
    outer: float,
    slope: float,
    r: Array,
    gauss: Array,
    fixed_inside: bool,
) -> tuple[Array, Array]:
    """Eigenfunctions R of −(rR')'/r + m²R/r² on the nodes, ∫ r R² = 1, and their values.

    At the outer end slope·R + R' = 0, an infinite slope being R = 0; inside R = 0 if it is fixed.
    """
    half = (outer - inner) / 2
    w = gauss * half
    # Polynomials times what vanishes where R must: (r − inner), or one, times (outer − r), or one.
    zero_left, zero_right = fixed_inside or order > 0, np.isinf(slope)
    left = (r - inner) if zero_left else np.ones_like(r)
    right = (outer - r) if zero_right else np.ones_like(r)
    slopes = zero_left * right - zero_right * left
    s = (r - inner) / half - 1
    p = legendre.legvander(s, DEGREE)
    dp = [legendre.legval(s, legendre.legder(row)) / half for row in np.eye(DEGREE + 1)]
    basis = (left * right)[:, None] * p
    d_basis = (left * right)[:, None] * np.stack(dp, 1) + slopes[:, None] * p
    stiffness = d_basis.T @ ((w * r)[:, None] * d_basis)
    stiffness += basis.T @ ((w * order**2 / r)[:, None] * basis)
    if np.isfinite(slope):
        end = (outer - inner if zero_left else 1.0) * np.ones(DEGREE + 1)
        stiffness += slope * outer * np.outer(end, end)
    mass = basis.T @ ((w * r)[:, None] * basis)
    values, vectors = scipy.linalg.eigh(stiffness, mass)
    return (basis @ vectors[:, :MODES]).T, values[:MODES]


def main() -> None:
    """The worst error over time for each heat problem at the paper's Δt, as it is packaged."""
    for name in GROUPS["heat"]:
        worst = float(euler_error(problems.get(name), PAPER.dt)[:, 1].max())
        print(f'  "{name}": {worst:.5e}')


if __name__ == "__main__":
    main()
