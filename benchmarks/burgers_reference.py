"""Compute the reference values of the Burgers problem and pack them, or measure coarser solutions.

    python -m benchmarks.burgers_reference DIRECTORY [TARGET] [--until T] [--most N]
    python -m benchmarks.burgers_reference [--until T] [--most N] [--dt Δt]

Fourier series with dealiasing, 1024 points per 2π, doubled to 2048 and 4096 as the spectrum fills;
once with Δt = 2·10⁻³ and once with 10⁻³, from which the error of order Δt⁴ is removed
(Richardson). The solution is π-periodic in x₁ exactly, so half the square is computed. DIRECTORY
receives both solutions, which are not computed again if they are there, and the extrapolated values
as `reference.npz`; with TARGET they are packed as the package holds them: a quarter of a full grid,
since u is π-periodic in x₁ and odd, rounded to multiples of 2⁻³⁶ ≈ 1.5·10⁻¹¹, which is what makes
them compressible and far below the accuracy of the reference itself, about 10⁻⁸. A file of such
values (times `t`, `u[k, i, j]` at x₁ = iπ/128, x₂ = 2πj/256, and a text `method`) in place of
DIRECTORY is packed as it is.

Without DIRECTORY one coarser solution is compared with the packaged reference, which is trusted as
far as solutions with half its waves, and with twice its time step, come near it. 1024 points per 2π
are the paper's own reference.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc import problems
from tengbc.equations import Burgers
from tengbc.errors import OutputError, UsageError
from tengbc.evidence.baselines.spectral import SpectralSolution, solve_spectral
from tengbc.geometry import PeriodicBox
from tengbc.problem import Problem
from tengbc.problems.burgers import NU, initial, reflect
from tengbc.storage.atomic import write_atomically
from tengbc.types import Progress

PACKAGED = Path(problems.__file__).parent / "data" / "burgers.npz"
TIMES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0)
FILL = 1e-11
"""How much of u the shortest waves may hold before there are more of them."""
DT = 1e-3
"""Its error is about 2·10⁻⁸ after t = 2, before the extrapolation."""
ROUNDING = 2.0**-36
SYMMETRY_TOLERANCE = 1e-13
GAIN = 15
"""Half the step has a sixteenth of the error, so u − u_½ is fifteen times that of u_½."""


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
    progress: Progress = lambda phase, fraction, known: None,
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
        progress=progress,
    )


def samples(solution: SpectralSolution) -> np.ndarray:
    """u[k, i, j] at x₁ = iπ/128, x₂ = 2πj/256, which are points of every lattice."""
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


def part(place: Path, dt: float, until: float, most: int, workers: int) -> Path:
    """The file of one solution, computed unless it is there."""
    path, made_with = place / f"dt-{dt:g}.npz", f"until {until:g}, at most {most} points per 2π"
    if path.exists():
        with np.load(path, allow_pickle=False) as known:
            if str(known.get("made_with")) == made_with:
                return path
        raise UsageError(f"{path} was made with other options; remove it or take another place.")

    def show(phase: str, fraction: float, known: dict) -> None:
        if known["step"] % 50 == 0:
            at = f"t = {known['time']:.3f}, {known['points']} points per axis"
            print(f"Δt = {dt:g}, {at}", flush=True)

    solution = compute(until, most=most, dt=dt, workers=workers, progress=show)
    u, method = samples(solution), described(solution)
    _save(path, t=solution.times, u=u, method=np.array(method), made_with=np.array(made_with))
    return path


def extrapolate(coarse: Path, fine: Path, target: Path) -> None:
    """The values of two solutions, one with half the step of the other, without the error Δt⁴."""
    with np.load(coarse, allow_pickle=False) as first, np.load(fine, allow_pickle=False) as second:
        u = second["u"] + (second["u"] - first["u"]) / GAIN
        method = f"{second['method']}; extrapolated with the solution of twice the time step"
        _save(target, t=second["t"], u=u, method=np.array(method))


def fold(u: Float[np.ndarray, "k 128 256"]) -> Float[np.ndarray, "k 65 256"]:
    """The rows x₁ ∈ [0, π/2] of one period x₁ ∈ [0, π); raises if oddness does not hold."""
    defect = float(np.abs(u + reflect(u)).max())
    if not defect <= SYMMETRY_TOLERANCE:
        raise UsageError(
            f"The values break u(−x) = −u(x) by {defect:.1e}, more than {SYMMETRY_TOLERANCE:g}; "
            f"fold only a solution of the Burgers problem."
        )
    return u[:, :65]


def write(source: Path, target: Path) -> None:
    """Fold, round and pack a source file, with its origin beside the numbers."""
    try:
        content = source.read_bytes()
        with np.load(source, allow_pickle=False) as data:
            times, u, method = data["t"], data["u"], str(data["method"])
        digest = hashlib.sha256(content).hexdigest()
        np.savez_compressed(
            target,
            t=times,
            u=np.round(fold(u) / ROUNDING) * ROUNDING,
            source=np.array(
                f"{method}; values rounded to multiples of 2^-36; made from {source.name}, "
                f"SHA-256 {digest}"
            ),
        )
    except (OSError, KeyError) as error:
        raise OutputError(
            f"The reference could not be made from {source} ({error}); "
            f"give an .npz file with arrays t, u and method, and a target that can be written."
        ) from error


def _save(path: Path, **arrays: np.ndarray) -> None:
    """A file that is there is whole: the next run relies on it."""
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)  # pyright: ignore[reportArgumentType]
    write_atomically(path, content.getvalue())


def measure(until: float, most: int, dt: float, workers: int) -> None:
    """One coarser solution, and its relative L² distance to the reference at every stored time."""
    solution = compute(until, min(1024, most), most, dt, workers)
    reference = problems.get("burgers").reference
    assert reference is not None
    print(f"{most} points per 2π at most, Δt = {dt:g}")
    for t, period in zip(solution.times, samples(solution), strict=True):
        truth = reference.values_at(float(t)).reshape(256, 256)[:128]
        error = np.linalg.norm(period - truth) / np.linalg.norm(truth)
        print(f"t = {t:4.2f}   {error:.1e}", flush=True)


def main() -> None:
    """Command line: DIRECTORY or a file, and optionally TARGET, the time, the finest resolution."""
    parser = argparse.ArgumentParser(description="Compute or measure the Burgers reference values.")
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("target", type=Path, nargs="?")
    parser.add_argument("--until", type=float, default=TIMES[-1])
    parser.add_argument("--most", type=int, help="1024, or 4096 with DIRECTORY")
    parser.add_argument("--dt", type=float, default=2 * DT, help="without DIRECTORY")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.directory is None:
        measure(given.until, given.most or 1024, given.dt, given.workers)
        return
    if given.directory.is_file():
        write(given.directory, given.target or PACKAGED)
        return
    given.directory.mkdir(parents=True, exist_ok=True)
    coarse, fine = (
        part(given.directory, dt, given.until, given.most or 4096, given.workers)
        for dt in (2 * DT, DT)
    )
    reference = given.directory / "reference.npz"
    extrapolate(coarse, fine, reference)
    if given.target is not None:
        write(reference, given.target)


if __name__ == "__main__":
    main()
