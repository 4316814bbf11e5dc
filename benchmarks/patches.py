"""How time and memory of local features grow with the number of patches.

    python -m benchmarks.patches            # a whole solve with 64, 256, 1,024 and 4,096 patches
    python -m benchmarks.patches solid      # the same in three dimensions, 8 to 512 patches
    python -m benchmarks.patches factors    # the factorisation alone, and that of SuperLU beside it

Patches are of one size and degree 5: 21 features each in the plane, 56 in three dimensions.
"""

from __future__ import annotations

import itertools
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

DEGREE = 5
LEVELS = {2: (3, 4, 5, 6), 3: (1, 2, 3)}
REPEATS = 3


def main() -> None:
    """Each size in a process of its own, so that its peak memory is its own."""
    asked = sys.argv[1:] or ["solve"]
    if len(asked) == 3:
        print(*_one(asked[0], int(asked[1]), int(asked[2])))
        return
    dim = 3 if "solid" in asked else 2
    kind = "factors" if "factors" in asked else "solve"
    print("seconds and peak memory" if kind == "solve" else "seconds of factors: fronts, SuperLU")
    found = []
    for level in LEVELS[dim]:
        command = [sys.executable, "-m", "benchmarks.patches", kind, str(dim), str(level)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found.append([float(number) for number in printed.split()])
        first, second = found[-1]
        unit = "MB" if kind == "solve" else "s"
        print(f"  {2 ** (level * dim):>6,} patches: {first:8.3f} s {second:10.3f} {unit}")
    sizes = [2.0 ** (level * dim) for level in LEVELS[dim]]
    slope = np.polyfit(np.log(sizes), np.log([first for first, _ in found]), 1)[0]
    print(f"  exponent of the seconds in the number of patches: {slope:.2f}")


def _one(kind: str, dim: int, level: int) -> tuple[float, float]:
    return _factors(dim, level) if kind == "factors" else _solve(dim, level)


def _problem(dim: int) -> Any:
    import jax.numpy as jnp

    import tengbc as tb

    domain = tb.Box((0.0,) * dim, (1.0,) * dim)
    decay = dim * jnp.pi**2 * 0.05
    exact = lambda x, t: jnp.exp(-decay * t) * jnp.prod(jnp.sin(jnp.pi * x))
    return tb.Problem(
        domain,
        tb.Heat(0.05),
        {segment: tb.Dirichlet(0.0) for segment in domain.segments},
        lambda x: exact(x, 0.0),
        exact=exact,
        t_end=1.0,
    )


def _leaves(dim: int, level: int) -> tuple:
    from tengbc.patches.cells import Cell

    places = itertools.product(range(2**level), repeat=dim)
    return tuple((Cell(level, place), DEGREE) for place in places)


def _solve(dim: int, level: int) -> tuple[float, float]:
    """Seconds of a second solve in the process, and the peak of memory in MB."""
    import tengbc as tb
    from tengbc.solver.strategies.local_features import LocalFeatures, PatchResolution

    first = lambda self, task: PatchResolution(_leaves(dim, level), 0.1 * task.tolerance)
    with mock.patch.object(LocalFeatures, "first", first):
        tb.solve(_problem(dim), strategy="local-features", rtol=1e-2)
        began = time.perf_counter()
        solution = tb.solve(_problem(dim), strategy="local-features", rtol=1e-2)
        seconds = time.perf_counter() - began
    assert solution.facts["patches"] == 2 ** (dim * level)
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _factors(dim: int, level: int) -> tuple[float, float]:
    """Seconds of factors along the patches, and of SuperLU's with its best order."""
    import scipy.sparse as sp
    import scipy.sparse.linalg as spla

    from tengbc.patches.laws import Laws
    from tengbc.patches.library import cells_of, form_over
    from tengbc.spaces.energy import EnergySpace
    from tengbc.spaces.fronts import factorised
    from tengbc.threads import blas_threads

    problem = _problem(dim)
    form = form_over(cells_of(problem.domain), _leaves(dim, level), 1)
    space = EnergySpace(Laws(problem), form)
    matrix = sp.csc_matrix(sp.eye_array(form.size, format="csc") + 0.1 * space.stiffness)
    options: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
    dissection = space.dissection
    with blas_threads(1):
        ours = _seconds(lambda: factorised(matrix, dissection, True))
        theirs = _seconds(lambda: spla.splu(matrix, options={"SymmetricMode": True}, **options))
    return ours, theirs


def _seconds(run: Callable[[], Any]) -> float:
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        run()
        found.append(time.perf_counter() - began)
    return min(found)


if __name__ == "__main__":
    main()
