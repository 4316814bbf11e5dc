"""How much memory and time a run will need, from its options alone: before any waiting."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

from tengbc.errors import UsageError
from tengbc.options import Options

GIGABYTE = 2**30
BASE = 1 * GIGABYTE
"""What the packages, the compiler and the small arrays take."""
COMPILING = 5.0
"""Seconds that go into compiling and measuring, however small the problem is."""
WITNESS = 1.2
"""Features of the witness per feature of the answer: their errors are those of different features,
and time goes with the cube."""
OVERSAMPLING = 2.4
"""Interior points per feature."""
SYSTEM_OVERSAMPLING = 5.0
"""The same for systems. Waves do not decay, so nothing damps what grows between too few points: on
a square with rigid walls, 180 features and t = 1 the error is 9·10⁻⁵ with 2.4 and 2·10⁻⁹ with 5."""
MOST_FEATURES = 2000
"""Features that the preset `fast` chooses at most by itself."""
FACTORISATIONS = 12
"""Matrices of rows × unknowns that a level of `fast` holds: values, rates, three stages' factors,
complex ones twice as large, and what the factorisation in hand needs beside them."""


def memory(options: Options, dim: int = 2, components: int = 1) -> float:
    """Bytes at the peak, rounded up rather than down."""
    if options.preset == "paper":
        return BASE + 8.0 * _paper(options, dim, components) * max(1, components)
    return BASE + 8.0 * _fast(options, components) * max(1, components) ** 2


def check_memory(options: Options, dim: int = 2, components: int = 1) -> None:
    """Refuse a run that cannot fit into this machine's memory."""
    needed, there = memory(options, dim, components), machine_memory()
    if needed > there:
        raise UsageError(
            f"The run would need about {needed / GIGABYTE:,.0f} GB of memory, but this machine has "
            f"{there / GIGABYTE:,.0f} GB; lower {largest(options)}."
        )


def largest(options: Options) -> str:
    """The options that decide the memory."""
    if options.preset == "fast":
        return "features" if options.interior_points is None else "features or interior_points"
    points = "per_axis" if options.interior_points is None else "interior_points"
    return f"{points}, subset or widths"


def machine_memory() -> float:
    """Bytes of memory of this machine, or of the container it pretends to be."""
    there = float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return min(there, float(limit)) if limit.isdecimal() else there
    except OSError:
        return there


def _paper(options: Options, dim: int, components: int) -> float:
    """Numbers in three Jacobians of the march, or in the initial fit of all parameters."""
    rows = options.interior_points or (options.per_axis or 64) ** dim
    rows = components * (rows + (options.boundary_points or 256))
    widths = options.widths or (40,) * 7
    parameters = (dim + 1) * widths[0] + (widths[-1] + 1) * components
    parameters += sum((a + 1) * b for a, b in itertools.pairwise(widths))
    active = options.subset or options.first_subset or 768
    fit = 1128 * components
    return 3.0 * rows * min(active, parameters) + 3.0 * fit * (parameters + fit)


def _fast(options: Options, components: int) -> float:
    """Numbers in the matrices of the witness, the larger of the two solutions."""
    features = WITNESS * (options.features or MOST_FEATURES / 4)
    per_feature = SYSTEM_OVERSAMPLING if components > 1 else OVERSAMPLING
    inside = options.interior_points or per_feature * features
    return FACTORISATIONS * features * (inside + (options.boundary_points or 0.2 * inside))


def seconds(options: Options, t_end: float, rate: float, dim: int = 2) -> float:
    """About how long a run takes, at so many floating-point operations a second; compiling too."""
    if options.preset == "fast":
        features = WITNESS * (options.features or MOST_FEATURES / 6)
        rows = 1.2 * (options.interior_points or OVERSAMPLING * features)
        steps = t_end / options.dt if options.dt else 50.0
        factors, product = 3 * 4 * 4 * rows * features**2, 5 * 4 * rows * features
        return COMPILING + 1.5 * (factors + 3 * steps * product) / rate
    rows = (options.interior_points or (options.per_axis or 64) ** dim) + 256
    active = options.subset or 512
    stages = {"heun": 2, "rk4": 4}.get(options.scheme or "heun", 1)
    fits = stages * (options.iterations or 5) * t_end / (options.dt or 5e-4)
    widths = options.widths or (40,) * 7
    parameters = sum((a + 1) * b for a, b in zip((dim, *widths), (*widths, 1), strict=True))
    fit = 1128.0 * 1128.0 * min(parameters, 2500) * 6 * (options.fit_iterations or 400)
    return COMPILING + (fits * (2 * rows * active**2 + 30 * rows * active) + fit) / rate


def speed() -> float:
    """Floating-point operations this machine does in a second, from a product of matrices."""
    import numpy as np

    matrix, best = np.ones((400, 400)), float("inf")
    for _ in range(4):
        began = time.perf_counter()
        np.matmul(matrix, matrix)
        best = min(best, time.perf_counter() - began)
    return 2 * 400.0**3 / best
