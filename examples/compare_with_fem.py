"""Compare with finite elements: the same problem in, errors against the exact solution out."""

import time

import numpy as np

import tengbc as tb
from tengbc.evidence.baselines.fem import solve_fem

problem = tb.problems.get("heat-robin")
points = problem.domain.evaluation_grid(51)


def error(solution, t):
    """Relative L² error on a grid that no solver has seen."""
    exact = problem.exact(points, t)
    return np.linalg.norm(solution(points, t) - exact) / np.linalg.norm(exact)


began = time.perf_counter()
ours = tb.solve(problem, rtol=1e-4)
print(f"tengbc: {error(ours, 1.0):.1e} in {time.perf_counter() - began:.1f} s with compilation")

for resolution in (8, 16):
    began = time.perf_counter()
    theirs = solve_fem(problem, resolution=resolution, dt=1e-2, scheme="ark4", times=[0.0, 1.0])
    spent = time.perf_counter() - began
    print(f"finite elements, {theirs.unknowns} unknowns: {error(theirs, 1.0):.1e} in {spent:.1f} s")
