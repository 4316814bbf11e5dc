"""The README's table of accuracy and user's seconds, measured and written in place.

Run it with OPENBLAS_NUM_THREADS and its like unset, on a quiet machine.
"""

from __future__ import annotations

import time

import tengbc as tb
from benchmarks.readme import README, insert
from benchmarks.seconds_child import robin
from tengbc.solution.summary import measure

PAPER = {
    "heat-dirichlet": "3.07e-6 (RK4)",
    "heat-neumann": "3.60e-6 (Heun)",
    "heat-flux": "4.41e-6 (Heun)",
    "heat-robin": "2.42e-6 (Heun)",
    "heat-mixed": "3.31e-6 (RK4)",
    "transport": "(figure only)",
}
"""The smallest value of each column of the paper's Table 1."""


def main() -> None:
    """Solve the linear benchmarks and rewrite the rows between the table's two marks."""
    rows = ["| problem | error | our own estimate | paper's best | seconds |", "|" + " --- |" * 5]
    tb.solve(robin(0.1, 1.0, 0.4), rtol=1e-3, throw=False)
    for name in PAPER:
        problem = tb.problems.get(name)
        began = time.perf_counter()
        solution = tb.solve(problem)
        seconds = time.perf_counter() - began
        errors = measure(solution)
        assert errors is not None
        estimate = solution.error_estimate.max()
        rows.append(
            f"| {name} | {errors.worst:.1e} | {estimate:.1e} | {PAPER[name]} | {seconds:.2f} |"
        )
        print(rows[-1], flush=True)
    README.write_text(insert(README.read_text("utf-8"), "benchmarks.readme_table", rows), "utf-8")


if __name__ == "__main__":
    main()
