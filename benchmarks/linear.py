"""Linear benchmarks: our error and seconds, and the best finite elements in the same seconds.

Quadratic ones (P2), and NGSolve's of high order (hp) where `tengbc[hpfem]` is installed.
"""

from __future__ import annotations

import tengbc as tb
from tengbc.evidence.comparison.compare import compare
from tengbc.solution.summary import measure

NAMES = ("heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed", "transport")


def main() -> None:
    """One line per problem, all measured in this run."""
    print(
        f"{'problem':<16}{'error':>10}{'estimate':>10}{'fit+march':>11}{'compile':>9}"
        f"{'P2 error':>11}{'P2 s':>7}{'unknowns':>10}{'ratio':>9}{'hp error':>11}{'hp s':>7}"
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
    plain, high = (entry.best for entry in compare(problem, ["fem", "hp-fem"], seconds))
    assert plain is not None
    error, ratio = plain.errors.worst, plain.errors.worst / errors.worst
    ours += f"{error:>11.1e}{plain.seconds:>6.1f}s{plain.unknowns:>10,}{ratio:>9.1e}"
    return ours + ("" if high is None else f"{high.errors.worst:>11.1e}{high.seconds:>6.1f}s")


if __name__ == "__main__":
    main()
