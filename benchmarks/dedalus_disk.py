"""heat-neumann with Dedalus 3, a spectral code with a basis made for the disk.

    OMP_NUM_THREADS=1 python benchmarks/dedalus_disk.py

Needs Dedalus (with MPI and FFTW) and not tengbc, so it can have an environment of its own; our side
of the comparison is `python -m benchmarks.disk_seconds`. Errors are relative L² errors at ten
times, seconds those of the march: imports and the building of matrices are apart.
"""

import logging
import time

import dedalus.public as d3  # pyright: ignore[reportMissingImports]
import numpy as np
from scipy.special import jnp_zeros, jv

KAPPA = 0.1
WEIGHTS = {
    **{(0, 1): 1, (0, 2): 1 / 4, (0, 3): 1 / 16, (0, 4): 1 / 64},
    **{(1, 1): -1, (1, 2): -1 / 2, (1, 3): -1 / 4, (1, 4): -1 / 8},
    **{(2, 1): 1, (3, 1): 1, (4, 1): 1},
}


def exact(phi, r, t):
    """The exact solution in polar coordinates, as in tengbc.problems.heat."""
    total = 0.0
    for (m, n), weight in WEIGHTS.items():
        zero = jnp_zeros(m, n)[-1]
        total += weight / 4 * jv(m, zero * r) * np.cos(m * phi) * np.exp(-KAPPA * zero**2 * t)
    return total


def solve(modes: int, dt: float) -> None:
    """March to t = 1 with RK443 and print error and seconds."""
    began = time.perf_counter()
    coordinates = d3.PolarCoordinates("phi", "r")
    distributor = d3.Distributor(coordinates, dtype=np.float64)
    disk = d3.DiskBasis(coordinates, shape=(modes, modes), radius=1, dtype=np.float64)
    u = distributor.Field(name="u", bases=disk)
    tau = distributor.Field(name="tau", bases=disk.edge)
    problem = d3.IVP([u, tau])
    problem.add_equation((d3.TimeDerivative(u) - KAPPA * d3.lap(u) + d3.Lift(tau, disk, -1), 0))
    problem.add_equation((d3.radial(d3.grad(u)(r=1)), 0))
    solver = problem.build_solver(d3.RK443)
    phi, r = distributor.local_grids(disk)
    u["g"] = exact(phi, r, 0.0)
    built, marching, worst, steps = time.perf_counter(), 0.0, 0.0, round(1 / dt)
    for n in range(1, steps + 1):
        start = time.perf_counter()
        solver.step(dt)
        marching += time.perf_counter() - start
        if n % (steps // 10) == 0:
            u.change_scales(1)
            truth = exact(phi, r, n * dt)
            missed = np.sqrt(np.sum(r * (u["g"] - truth) ** 2) / np.sum(r * truth**2))
            worst = max(worst, float(missed))
    print(
        f"Dedalus, {modes}², Δt = {dt:g}: error {worst:.1e}, march {marching:.2f} s, "
        f"building {built - began:.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    for name in [*logging.root.manager.loggerDict]:
        logging.getLogger(name).setLevel(logging.ERROR)
    for step in (2e-3, 2e-3, 1e-3):
        solve(32, step)
