"""What a run costs, as far as it can be told beforehand, and what this machine has."""

import itertools
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

from tengbc.defaults import FEATURES, PAPER
from tengbc.errors import UsageError
from tengbc.options import Options

GIGABYTE = 2**30
BASE = 1 * GIGABYTE
"""What the packages, the compiler and the small arrays take."""
FACTORISATIONS = 12
"""Matrices of rows × unknowns that features hold: values, rates, three stages' factors, complex
ones twice as large, and what the factorisation in hand needs beside them."""
MATRICES = 6
"""Sparse matrices that are held while they are assembled, their places among them."""


@dataclass(frozen=True)
class Cost:
    """Seconds, compiling too, and bytes at the peak; `lower` names the options that decide both."""

    seconds: float
    memory: float
    lower: str
    foreseeable: bool = True
    """Whether the seconds are worth saying: not where resolutions follow the errors."""


def check_memory(needed: float, lower: str) -> None:
    """Refuse a run that cannot fit into this machine's memory."""
    there = machine_memory()
    if needed > there:
        raise UsageError(
            f"The run would need about {needed / GIGABYTE:,.0f} GB of memory, but this machine has "
            f"{there / GIGABYTE:,.0f} GB; lower {lower}."
        )


def check_options(options: Options, dim: int = 2) -> None:
    """Refuse such a run by its options alone, before the problem is known and anything imported."""
    if "paper" in (options.preset, options.strategy):
        check_memory(paper_memory(options, dim), paper_options(options))
    else:
        check_memory(feature_memory(options), feature_options(options))


def machine_memory() -> float:
    """Bytes of memory of this machine, or of the container it pretends to be."""
    there = float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        return min(there, float(limit)) if limit.isdecimal() else there
    except OSError:
        return there


def speed() -> float:
    """Floating-point operations a core of this machine does in a second, by products of matrices.

    On one thread: beside other work, several wait for each other, and tell nothing.
    """
    import numpy as np

    from tengbc.threads import blas_threads

    matrix, best = np.ones((400, 400)), float("inf")
    with blas_threads(1):
        for _ in range(4):
            began = time.perf_counter()
            np.matmul(matrix, matrix)
            best = min(best, time.perf_counter() - began)
    return 2 * 400.0**3 / best


# One global basis of features.


def feature_options(options: Options) -> str:
    """The options that decide what features cost."""
    return "features" if options.interior_points is None else "features or interior_points"


def feature_rows(options: Options, features: float, components: int = 1) -> float:
    """Rows of the least-squares problem, interior and boundary."""
    per_feature = FEATURES.system_oversampling if components > 1 else FEATURES.oversampling
    inside = options.interior_points or per_feature * features
    return inside + (options.boundary_points or 0.2 * inside)


def feature_memory(options: Options, components: int = 1) -> float:
    """Bytes of the matrices of the companion, the larger of the two solutions."""
    features = FEATURES.companion_features * (options.features or FEATURES.most_features / 4)
    numbers = FACTORISATIONS * features * feature_rows(options, features, components)
    return BASE + 8.0 * numbers * max(1, components) ** 2


# The paper's network.


def paper_options(options: Options) -> str:
    """The options that decide what the paper's network costs."""
    points = "per_axis" if options.interior_points is None else "interior_points"
    return f"{points}, subset or widths"


def paper_rows(options: Options, dim: int) -> float:
    """Rows of the least-squares problem for one component."""
    inside = options.interior_points or (options.per_axis or PAPER.per_axis) ** dim
    return inside + (options.boundary_points or PAPER.boundary_points)


def paper_parameters(options: Options, dim: int, components: int = 1) -> int:
    """How many parameters the network has."""
    sizes = (dim, *(options.widths or PAPER.widths), components)
    return sum((a + 1) * b for a, b in itertools.pairwise(sizes))


def paper_memory(options: Options, dim: int = 2, components: int = 1) -> float:
    """Bytes of three Jacobians of the march, and of the initial fit of all parameters."""
    parameters = paper_parameters(options, dim, components)
    active = options.subset or options.first_subset or PAPER.first_subset
    fit = (PAPER.fit_points + PAPER.fit_boundary_points) * components
    numbers = 3.0 * components * paper_rows(options, dim) * min(active, parameters)
    return BASE + 8.0 * (numbers + 3.0 * fit * (parameters + fit)) * max(1, components)


# Patches.


def factor_size(dim: int, patches: int, unknowns: int) -> float:
    """Numbers in the factors and fronts of nested dissection with so many unknowns per patch.

    Separators of P patches hold P^(1 − 1/d) of them, so that factors go with P in one dimension,
    P·log P in two and P^(4/3) in three; the factors before them are measured on grids.
    """
    growth = {1: 10.0, 2: 3.0 * math.log2(patches + 1), 3: 12.0 * patches ** (1 / 3)}[dim]
    return growth * patches * unknowns**2


def factor_work(dim: int, patches: int, unknowns: int) -> float:
    """Multiplications of such a factorisation: P, P^(3/2) and P² for d = 1, 2 and 3."""
    constant = {1: 30.0, 2: 15.0, 3: 5.0}[dim]
    return constant * patches ** {1: 1.0, 2: 1.5, 3: 2.0}[dim] * unknowns**3


def patch_memory(dim: int, patches: int, features: int, components: int = 1) -> float:
    """Bytes of features at all nodes, of sparse matrices in the making, and of complex factors."""
    across = features ** (1 / dim) * math.factorial(dim) ** (1 / dim)  # about degree + 1.5
    nodes = across**dim + 2 * dim * across ** (dim - 1)
    blocks = (2 * dim + 1) * (features * components) ** 2
    numbers = (1 + dim) * nodes * features + MATRICES * blocks
    return BASE + 8.0 * (patches * numbers + 2 * factor_size(dim, patches, features * components))
