"""How time and memory grow with the number of points and of features."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

POINTS = (2_000, 4_096, 8_192, 16_384, 32_768, 65_536)
FEATURES = (250, 500, 1_000, 2_000)


def main() -> None:
    """Each size in a process of its own, so that its peak memory is its own."""
    print("set-up and ten steps of heat-robin with frozen features")
    by_points = [_measure(points, 250) for points in POINTS]
    print(f"  exponent in the number of points: {_slope(POINTS, by_points):.2f}")
    by_features = [_measure(5_000, features) for features in FEATURES]
    print(f"  exponent in the number of features: {_slope(FEATURES, by_features):.2f}")


def _measure(points: int, features: int) -> float:
    command = [sys.executable, "-m", "benchmarks.scaling", str(points), str(features)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds, megabytes = map(float, printed.split())
    print(f"  {points:>7,} points {features:>6,} features: {seconds:7.2f} s {megabytes:8.0f} MB")
    return seconds


def _slope(sizes: tuple[int, ...], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _one(points: int, features: int) -> None:
    import resource

    import tengbc as tb
    from tengbc.networks import random_features
    from tengbc.schemes import RadauIIA
    from tengbc.solver.sampling import boundary_points
    from tengbc.spaces import LinearSpace, State
    from tengbc.timing import compile_clock

    problem = tb.problems.get("heat-robin")
    began = time.perf_counter()
    network = random_features(problem.domain, features)
    interior = problem.domain.interior(points)
    space = LinearSpace(problem, network, interior, boundary_points(problem.domain, 400))
    target = problem.initial(interior.x)[:, None]
    state = State(space.project(space.collocation.parameters.start, target, 0.0).theta)
    for step in range(10):
        state, _ = RadauIIA().step(space, state, 0.02 * step, 0.02, (0, step))
    seconds = time.perf_counter() - began - compile_clock.seconds
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _one(int(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
