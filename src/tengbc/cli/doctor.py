"""tengbc doctor: what this installation is made of, and whether it computes."""

import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("tengbc", "jax", "jaxlib", "numpy", "scipy", "equinox", "matplotlib", "xarray")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "XLA_FLAGS")


def doctor() -> None:
    """Show versions, devices, precision, BLAS, threads and memory, and solve a small problem."""
    rows = [*_machine(), *_libraries()]
    good, text = _self_test()
    rows.append(("self-test", text))
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:<{width}}  {value}")
    sys.exit(0 if good else 1)


def _machine() -> Iterator[tuple[str, str]]:
    from tengbc.costs import GIGABYTE, machine_memory

    yield "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"
    yield "processors", str(os.cpu_count())
    set_ = [f"{name}={os.environ[name]}" for name in THREADS if name in os.environ]
    yield "threads", ", ".join(set_) or "as the libraries choose"
    yield "memory", f"{machine_memory() / GIGABYTE:.1f} GB"


def _libraries() -> Iterator[tuple[str, str]]:
    import jax
    import numpy as np

    yield "devices", ", ".join(str(device) for device in jax.devices())
    wide = jax.numpy.zeros(()).dtype == np.float64
    yield "precision", f"float64 here; JAX itself is set to {'float64' if wide else 'float32'}"
    built = np.show_config(mode="dicts") or {}
    blas = built.get("Build Dependencies", {}).get("blas", {})
    yield "BLAS", f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _self_test() -> tuple[bool, str]:
    """u = e^(−κπ²t) sin πx on a unit interval, to 1e-6."""
    import jax.numpy as jnp
    import numpy as np

    import tengbc as tb

    began = time.perf_counter()
    ends = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    start = lambda x: jnp.sin(jnp.pi * x[0])
    problem = tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(0.1), ends, start)
    x = np.linspace(0.0, 1.0, 101)
    found = tb.solve(problem, 0.5, rtol=1e-6, throw=False)(x, 0.5)
    exact = np.exp(-0.1 * np.pi**2 * 0.5) * np.sin(np.pi * x)
    error = float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    good = error <= 1e-6
    said = "computes as it should" if good else "DOES NOT compute as it should"
    seconds = time.perf_counter() - began
    return good, f"{said}: heat on an interval to {error:.1e} in {seconds:.1f} s"
