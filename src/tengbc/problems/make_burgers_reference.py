"""Compute the reference values of the Burgers problem and pack them.

    python -m tengbc.problems.make_burgers_reference SOURCE [TARGET] [--until T] [--most N]

Fourier series with dealiasing and Δt = 10⁻³: 1024 points per 2π, doubled to 2048 and 4096 as the
spectrum fills. The solution is π-periodic in x₁ exactly, so half the square is computed. SOURCE
receives times and values as computed; with TARGET they are packed as the package holds them.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from tengbc.baselines.spectral import SpectralSolution, solve_spectral
from tengbc.baselines.spectral.solve import Report
from tengbc.equations import Burgers
from tengbc.errors import OutputError
from tengbc.geometry import PeriodicBox
from tengbc.problem import Problem
from tengbc.problems.burgers import NU, initial
from tengbc.problems.burgers_data import write

TIMES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0)
FILL = 1e-11
"""How much of u the shortest waves may hold before there are more of them."""
DT = 1e-3
"""Twice as much changes u by 4·10⁻⁷ after t = 2."""


def half_problem() -> Problem:
    """The Burgers problem on one of its two equal halves, [0, π) × [0, 2π)."""
    domain = PeriodicBox((0.0, 0.0), (math.pi, 2 * math.pi))
    return Problem(domain, Burgers(NU), {}, initial, name="burgers, one period")


def compute(
    until: float,
    first: int = 1024,
    most: int = 4096,
    dt: float = DT,
    workers: int = 2,
    report: Report = lambda phase, fraction, known: None,
) -> SpectralSolution:
    """The solution up to a time, at those of TIMES that lie before it."""
    return solve_spectral(
        half_problem(),
        until,
        resolution=(first // 2, first),
        most=most,
        fill=FILL,
        dt=dt,
        times=[t for t in TIMES if t <= until],
        workers=workers,
        report=report,
    )


def samples(solution: SpectralSolution) -> np.ndarray:
    """u[k, i, j] at x₁ = iπ/128, x₂ = 2πj/256: every so many points of the lattice."""
    return np.stack(
        [
            lattice.backward(modes)[0, :: lattice.shape[0] // 128, :: lattice.shape[1] // 256]
            for lattice, modes in zip(solution.lattices, solution.spectra, strict=True)
        ]
    )


def described(solution: SpectralSolution) -> str:
    """How it was computed, in a sentence."""
    facts: Any = solution.facts
    raised = ", ".join(f"{points} from t = {t:.3g} on" for t, points in facts["raised"])
    return (
        f"Fourier series with 2/3 dealiasing and integrating-factor RK4, time step "
        f"{facts['dt']:g}; points per 2π in each direction: {raised}"
    )


def main() -> None:
    """Command line: SOURCE, and optionally TARGET, the time and the finest resolution."""
    parser = argparse.ArgumentParser(description="Compute the Burgers reference values.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--until", type=float, default=TIMES[-1])
    parser.add_argument("--most", type=int, default=4096)
    parser.add_argument("--dt", type=float, default=DT)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()

    def show(phase: str, fraction: float, known: dict) -> None:
        if known["step"] % 50 == 0:
            print(f"t = {known['time']:.3f}, {known['points']} points per axis", flush=True)

    solution = compute(
        given.until, most=given.most, dt=given.dt, workers=given.workers, report=show
    )
    try:
        np.savez_compressed(
            given.source,
            t=solution.times,
            u=samples(solution),
            method=np.array(described(solution)),
        )
    except OSError as error:
        raise OutputError(
            f"{given.source} cannot be written ({error.strerror}); choose another place."
        ) from error
    if given.target is not None:
        write(given.source, given.target)


if __name__ == "__main__":
    main()
