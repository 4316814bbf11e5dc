"""Burgers on a line by moving features: `python -m benchmarks.fronts` (two minutes).

u_t + u·u_x = ν·u_xx with ν = 0.01/π on (−1, 1), u = 0 at both ends, from −sin πx: the classic test.
A front 0.01 wide stands at x = 0 from t ≈ 0.4 on. Errors against the Cole–Hopf solution, with
points that lie close together at the front, beside our own estimate.
"""

from __future__ import annotations

import time

import numpy as np

import tengbc as tb
from tests.cole_hopf import error, problem

TIMES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def main() -> None:
    """The table, at the default tolerance and at 1e-9."""
    for rtol in (1e-6, 1e-9):
        began = time.perf_counter()
        solution = tb.solve(problem(), 1.0, rtol=rtol, strategy="moving-features", throw=False)
        seconds = time.perf_counter() - began
        print(f"rtol {rtol:g}: {solution.result.outcome.value}, {seconds:.0f} s, {solution.facts}")
        for t in TIMES:
            stated = solution.error_estimate[np.argmin(np.abs(solution.times - t))]
            print(f"  t = {t:.1f}: error {error(solution, t):.1e}, estimate {stated:.1e}")


if __name__ == "__main__":
    main()
