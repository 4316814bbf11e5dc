"""heat-neumann to 1e-9: our seconds, to be read beside those of benchmarks/dedalus_disk.py."""

import numpy as np

import tengbc as tb
from tengbc.solution.measure import measure


def main() -> None:
    """By one basis and by patches, companions included; the second round is warm."""
    problem = tb.problems.get("heat-neumann")
    for strategy in ("frozen-features", "local-features") * 2:
        solution = tb.solve(problem, rtol=1e-9, strategy=strategy)
        errors, spent = measure(solution), solution.seconds
        assert errors is not None
        estimate = np.max(solution.error_estimate)
        print(
            f"{strategy}: error {errors.worst:.1e}, estimate {estimate:.1e}, "
            f"fit and march {spent['initial_fit'] + spent['march']:.2f} s, "
            f"compilation {spent['compile']:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
