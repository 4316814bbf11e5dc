"""How many threads the BLAS of NumPy and SciPy takes.

Threads that wait for each other spin: on small matrices they gain nothing, and beside other work on
the machine they cost tenfold. So strategies of small or sparse matrices run on one.
"""

import contextlib
import ctypes
import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache

HOMES = ("numpy.linalg._umath_linalg", "scipy.linalg._flapack")
"""Modules that are linked to a BLAS; each may have a library of its own, and JAX uses SciPy's."""
NAMES = ("scipy_openblas_{}_num_threads{}", "openblas_{}_num_threads{}")


@cache
def libraries() -> list[tuple[Callable[[], int], Callable[[int], None], int]]:
    """Of every OpenBLAS that is loaded: what asks for its threads, what sets them, and how many
    there were at first. Others, such as that of macOS, are left to themselves."""
    found = []
    for home in HOMES:
        try:
            library = ctypes.CDLL(importlib.import_module(home).__file__)
        except (ImportError, OSError, TypeError):  # built another way: nothing to be set
            continue
        for name in NAMES:
            for suffix in ("64_", ""):
                ask = getattr(library, name.format("get", suffix), None)
                set_ = getattr(library, name.format("set", suffix), None)
                if ask is not None and set_ is not None:
                    found.append((ask, set_, ask()))
    return found


@contextlib.contextmanager
def blas_threads(count: int | None) -> Iterator[None]:
    """That many threads while inside; None: as many as there were at first."""
    before = [(set_, ask()) for ask, set_, _ in libraries()]
    try:
        for _, set_, first in libraries():
            set_(first if count is None else count)
        yield
    finally:
        for set_, threads in before:
            set_(threads)


def one_thread(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that shall keep to one thread: others do as well beside it."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    flags = f"{environment.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    return {**environment, **dict.fromkeys(names, "1"), "XLA_FLAGS": flags}
