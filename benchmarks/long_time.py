"""To t = 10, ten times as far as the paper goes: how the error grows, and how steps grow."""

from __future__ import annotations

import itertools

import numpy as np

import tengbc as tb
from tengbc.solution.summary import measure

WINDOWS = (0.0, 1.0, 2.0, 5.0, 10.0)


def main() -> None:
    """One line per problem, frozen features: the worst error in each window of time."""
    heads = "".join(f"t ≤ {end:g}".rjust(11) for end in WINDOWS[1:])
    print(f"{'to t = 10, 1e-8':<16}{heads}{'estimate':>11}{'fit+march':>11}{'steps':>7}  Δt")
    for name in ("heat-neumann", "transport"):
        problem = tb.problems.get(name)
        solution = tb.solve(
            problem, WINDOWS[-1], rtol=1e-8, strategy="frozen-features", throw=False
        )
        errors = measure(solution)
        assert errors is not None
        worst = [
            max(error for t, error in errors.by_time if first <= t <= last)
            for first, last in itertools.pairwise(WINDOWS)
        ]
        seconds = solution.seconds["initial_fit"] + solution.seconds["march"]
        steps = np.diff(solution.times)
        print(
            f"{name:<16}"
            + "".join(f"{error:>11.1e}" for error in worst)
            + f"{solution.error_estimate.max():>11.1e}{seconds:>10.1f}s{len(steps):>7}"
            + f"  {steps.min():.2g} … {steps.max():.2g}  {solution.result}",
            flush=True,
        )


if __name__ == "__main__":
    main()
