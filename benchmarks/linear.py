"""Linear benchmarks: our error and seconds, and the best finite elements in the same seconds."""

from __future__ import annotations

import numpy as np

import tengbc as tb
from tengbc.baselines.fem import best_fem
from tengbc.solver.measure import Truth
from tengbc.summary import measure

NAMES = ("heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed", "transport")


def main() -> None:
    """One line per problem, all measured in this run."""
    print(
        f"{'problem':<16}{'error':>10}{'estimate':>10}{'fit+march':>11}{'compile':>9}"
        f"{'P2 error':>11}{'P2 s':>7}{'unknowns':>10}{'ratio':>9}"
    )
    for name in NAMES:
        print(_line(name), flush=True)


def _line(name: str) -> str:
    problem = tb.problems.get(name)
    tb.solve(problem)  # once to warm up
    solution = tb.solve(problem)
    errors = measure(solution)
    assert errors is not None
    seconds = solution.seconds["initial_fit"] + solution.seconds["march"]
    ours = (
        f"{name:<16}{errors.worst:>10.1e}{solution.error_estimate.max():>10.1e}{seconds:>10.2f}s"
        f"{solution.seconds['compile']:>8.2f}s"
    )
    truth = Truth(problem)
    times = np.linspace(0.0, float(solution.times[-1]), 11)
    values = np.stack([truth.values(t) for t in times])
    best = best_fem(problem, float(solution.times[-1]), seconds, truth.points, times, values)
    ratio = best.error / errors.worst
    return ours + f"{best.error:>11.1e}{best.seconds:>6.1f}s{best.unknowns:>10,}{ratio:>9.1e}"


if __name__ == "__main__":
    main()
