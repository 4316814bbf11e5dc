"""Linear benchmarks: our error and seconds, and the best finite elements in the same seconds."""

from __future__ import annotations

from tengbc.runs.summary import measure

import tengbc as tb
from tengbc.evidence.comparison.compare import compare

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
    best = compare(problem, ["fem"], seconds)[0].best
    assert best is not None
    error, ratio = best.errors.worst, best.errors.worst / errors.worst
    return ours + f"{error:>11.1e}{best.seconds:>6.1f}s{best.unknowns:>10,}{ratio:>9.1e}"


if __name__ == "__main__":
    main()
