"""heat-neumann to 1e-9: our seconds, to be read beside those of benchmarks/dedalus_disk.py."""

import numpy as np
from tengbc.runs.summary import measure

import tengbc as tb
from tengbc.options import options
from tengbc.solver.solve import solve_once


def main() -> None:
    """With the companion that measures the error, and without it; the second round is warm."""
    problem = tb.problems.get("heat-neumann")
    alone = options(preset="fast", rtol=1e-9, t_end=problem.t_end)
    quiet = lambda phase, fraction, known: None
    for _ in range(2):
        for name, solution in (
            ("answer and companion", tb.solve(problem, rtol=1e-9)),
            ("answer alone", solve_once(problem, alone, quiet)),
        ):
            errors, spent = measure(solution), solution.seconds
            assert errors is not None
            estimate = np.max(solution.error_estimate)
            print(
                f"{name}: error {errors.worst:.1e}, estimate {estimate:.1e}, "
                f"fit and march {spent['initial_fit'] + spent['march']:.2f} s, "
                f"compilation {spent['compile']:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
