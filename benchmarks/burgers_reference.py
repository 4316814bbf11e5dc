"""How far coarser Fourier solutions of the Burgers problem are from the packaged reference.

    python -m benchmarks.burgers_reference [--most N] [--dt Δt] [--until T]

The reference is trusted as far as solutions with half its waves, and with twice its time step, come
near it. 1024 points per 2π are the paper's own reference.
"""

import argparse

import numpy as np

from tengbc import problems
from tengbc.evidence.burgers_reference import compute, samples


def main() -> None:
    """One coarser solution, and its relative L² distance at every stored time."""
    parser = argparse.ArgumentParser(description="Refine the Burgers reference.")
    parser.add_argument("--most", type=int, default=1024)
    parser.add_argument("--dt", type=float, default=2e-3)
    parser.add_argument("--until", type=float, default=4.0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    solution = compute(given.until, min(1024, given.most), given.most, given.dt, given.workers)
    reference = problems.get("burgers").reference
    assert reference is not None
    print(f"{given.most} points per 2π at most, Δt = {given.dt:g}")
    for t, period in zip(solution.times, samples(solution), strict=True):
        truth = reference.values_at(float(t)).reshape(256, 256)[:128]
        error = np.linalg.norm(period - truth) / np.linalg.norm(truth)
        print(f"t = {t:4.2f}   {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
