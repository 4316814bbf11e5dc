"""The files that one time step passes through: `python -m benchmarks.walk` (a minute).

Counted by a tracer, not by eye: `sys.setprofile` sees every call of a function of the package while
a march is in its middle, where everything is compiled. Each line names a file, and the functions of
it that were called first. `programs`, which runs the user's functions as XLA would, counts as one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import jax.numpy as jnp

import tengbc as tb
from tengbc.solver import march

PACKAGE = Path(tb.__file__).parent
LEG = 5
"""Which leg of a march is looked at: by then everything is compiled."""


def walk(problem: tb.Problem, t_end: float, **options) -> list[tuple[str, list[str]]]:
    """(file, functions) of one leg of the first march, in the order of their first call."""
    seen: dict[str, list[str]] = {}

    def trace(frame, event, argument):
        file = Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in file.parents:
            place = file.relative_to(PACKAGE)
            names = seen.setdefault("programs" if place.parts[0] == "programs" else str(place), [])
            if frame.f_code.co_name not in names:
                names.append(frame.f_code.co_name)

    leg, calls = march._March._leg, 0

    def watched(self, trajectory):
        nonlocal calls
        calls += 1
        if calls != LEG:
            return leg(self, trajectory)
        sys.setprofile(trace)
        try:
            return leg(self, trajectory)
        finally:
            sys.setprofile(None)

    march._March._leg = watched
    try:
        tb.solve(problem, t_end, throw=False, **options)
    finally:
        march._March._leg = leg
    return list(seen.items())


def interval() -> tb.Problem:
    """Burgers between two walls."""
    walls = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    start = lambda x: -jnp.sin(jnp.pi * x[0])
    return tb.Problem(tb.Interval(-1.0, 1.0), tb.Burgers(0.05), walls, start)


CASES: dict[str, Callable[[], list]] = {
    "heat-mixed": lambda: walk(tb.problems.get("heat-mixed"), 1.0),
    "burgers on an interval": lambda: walk(interval(), 0.3, rtol=1e-3),
    "burgers on a periodic square": lambda: walk(tb.problems.get("burgers"), 0.05, rtol=1e-3),
}


def main() -> None:
    """The walks of three problems."""
    for name, walked in CASES.items():
        files = walked()
        print(f"{name}: {len(files)} files")
        for file, functions in files:
            print(f"  {file}: {', '.join(functions[:8])}")


if __name__ == "__main__":
    main()
