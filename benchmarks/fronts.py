"""Burgers on a line: `python -m benchmarks.fronts` (two minutes).

u_t + u·u_x = ν·u_xx with ν = 0.01/π on (−1, 1), u = 0 at both ends, from −sin πx: the classic test.
A front 0.01 wide stands at x = 0 from t ≈ 0.4 on. Errors against the Cole–Hopf solution, with
points crowded at the front, beside our own estimate.
"""

from __future__ import annotations

import time

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import tengbc as tb

NU = 0.01 / np.pi
TIMES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)


def problem() -> tb.Problem:
    """The equation, the ends and the start."""
    return tb.Problem(
        tb.Interval(-1.0, 1.0),
        tb.Burgers(NU),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: -jnp.sin(jnp.pi * x[0]),
    )


def exact(x: Float[np.ndarray, " n"], t: float) -> Float[np.ndarray, " n"]:
    """−∫ sin(πy)·h dη / ∫ h dη, y = x − η, h the heat kernel times u₀'s potential: Cole–Hopf."""
    node, weight = np.polynomial.hermite.hermgauss(200)
    y = x[:, None] - node * np.sqrt(4 * NU * t)
    power = -np.cos(np.pi * y) / (2 * np.pi * NU)
    heat = np.exp(power - power.max(axis=1, keepdims=True)) * weight
    return -(np.sin(np.pi * y) * heat).sum(axis=1) / heat.sum(axis=1)


def error(solution: tb.Solution, t: float) -> float:
    """Relative L² error at time t, with points that are dense at the front."""
    x = np.sinh(np.linspace(-6, 6, 3001)) / np.sinh(6)
    weight, truth = np.gradient(x), exact(x, t)
    wrong = solution(x[:, None], t) - truth
    return float(np.sqrt((weight * wrong**2).sum() / (weight * truth**2).sum()))


def main() -> None:
    """The table, at the default tolerance and at 1e-9."""
    for rtol in (1e-6, 1e-9):
        began = time.perf_counter()
        solution = tb.solve(problem(), 1.0, rtol=rtol, throw=False)
        seconds = time.perf_counter() - began
        print(f"rtol {rtol:g}: {solution.result.outcome.value}, {seconds:.0f} s, {solution.facts}")
        for t in TIMES:
            stated = solution.error_estimate[np.argmin(np.abs(solution.times - t))]
            print(f"  t = {t:.1f}: error {error(solution, t):.1e}, estimate {stated:.1e}")


if __name__ == "__main__":
    main()
