"""The tables of docs/boundary-stages.md: `python -m benchmarks.boundary_stages` (some minutes).

Orders, stable steps and errors of explicit schemes with boundary data at the time of each stage,
and with data consistent with the stage's formula.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np

import tengbc as tb
from tengbc.networks import mlp
from tengbc.projection import Collocation, SeparableProjection
from tengbc.schemes import EULER, HEUN, RK4, RungeKutta
from tengbc.solver.sampling import boundary_points
from tengbc.spaces import NetworkSpace, State
from tests.orders.manufactured import (
    CASES,
    DIRICHLET,
    NEUMANN,
    ROBIN,
    Case,
    error,
    slope,
    space_of,
)

DATA = ("time", "consistent")


def fixed_space() -> None:
    """Slopes in a space that stays the same, between 20 and 40 steps."""
    print("case, then slope (error at 40 steps): Euler; Heun time, consistent; RK4 likewise")
    for name in CASES:
        cells = []
        for tableau, data in [(EULER, "time")] + [(m, d) for m in (HEUN, RK4) for d in DATA]:
            errors = [error(space_of(name), RungeKutta(tableau, data), n, 0.4) for n in (20, 40)]
            cells.append(f"{slope(errors, (20, 40)):.3f} ({errors[-1]:.1e})")
        print(f"{name:16}", *cells, sep=" | ", flush=True)


def ends(condition, degree: int) -> NetworkSpace:
    """Heat with κ = 1 on an interval, polynomials of one degree."""
    both = {"left": condition, "right": condition}
    return Case("ends", tb.Heat(1.0), both, degree=degree).space()


def refined_space() -> None:
    """Slopes where Δt = 20 / degree⁴, and the largest stable Δt."""
    degrees = (6, 8, 10, 12)
    for label, condition in (("dirichlet", DIRICHLET), ("neumann", NEUMANN), ("robin", ROBIN)):
        spaces = [ends(condition, degree) for degree in degrees]
        counts = [int(np.ceil(0.1 * degree**4 / 20)) for degree in degrees]
        for tableau in (HEUN, RK4):
            for data in DATA:
                scheme = RungeKutta(tableau, data)
                errors = [error(s, scheme, n, 0.1) for s, n in zip(spaces, counts, strict=True)]
                shown = " ".join(f"{e:.1e}" for e in errors)
                stable = largest_step(spaces[1], scheme)
                print(
                    f"{label:9} {tableau.name:4} {data:10} errors {shown}; slope "
                    f"{slope(errors, counts):.2f}; degree 8 is stable to Δt = {stable:.4f}",
                    flush=True,
                )


def largest_step(space: NetworkSpace, scheme: RungeKutta) -> float:
    """The largest Δt up to which no error grows, by bisection."""
    low, high = 1e-4, 1e-1
    for _ in range(9):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if growth(space, scheme, middle) <= 1 + 1e-6 else (low, middle)
    return low


def growth(space: NetworkSpace, scheme: RungeKutta, dt: float) -> float:
    """Spectral radius of the map from one state to the next, which is affine here."""
    start = np.zeros(len(space.collocation.parameters))
    step = lambda theta: scheme.step(space, State(theta), 0.0, dt, (0, 1))[0].theta
    origin = step(start)
    columns = [step(unit) - origin for unit in np.eye(len(start))]
    return float(np.abs(np.linalg.eigvals(np.array(columns).T)).max())


def tanh_features() -> None:
    """Errors of RK4 on the disk with 200 tanh features, which resolve the solution nearly."""
    for label, condition in (("dirichlet", DIRICHLET), ("neumann", NEUMANN)):
        case = Case("features", tb.Heat(0.1), {"circle": condition}, tb.Disk(1.0))
        network = mlp(case.domain, widths=(200,), seed=0)
        interior, boundary = case.domain.interior(900), boundary_points(case.domain, 120)
        collocation = Collocation(case.problem(), network, interior, boundary)
        for cutoff in (1e-7, 1e-11):
            head_only = replace(SeparableProjection(), iterations=0, cutoff=cutoff)
            space = NetworkSpace(collocation, head_only)
            for data in DATA:
                scheme = RungeKutta(RK4, data)
                errors = [error(space, scheme, n, 0.2) for n in (10, 20, 40, 80)]
                print(
                    f"{label:9} cut-off {cutoff:g} {data:10} Δt = 0.02, 0.01, 0.005, 0.0025:",
                    " ".join(f"{e:.1e}" for e in errors),
                    flush=True,
                )


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    fixed_space()
    refined_space()
    tanh_features()
