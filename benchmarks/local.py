"""Several materials, and nonlinear equations: what a user gets in which time.

    python -m benchmarks.local [--rtol 1e-2 1e-4] [--only NAME …]
    python -m benchmarks.local --references [--only NAME …]

One line for each problem and tolerance: how tb.solve ended, its true error (worst relative L² error
at the times of the reference), the error that it states for the same times, the user's seconds,
those of tb.solve in a process that has solved something else before, the seconds of processor time
among them, and the bar. Every solve has a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

from benchmarks.local_problems import PROBLEMS

RTOLS = (1e-2, 1e-4)
LIMIT = 300.0
COLUMNS = ("problem", "rtol", "outcome", "error", "stated", "s", "of processor", "bar")
WIDTHS = (20, 8, 23, 9, 9, 8, 14, 6)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Materials and nonlinear equations.")
    parser.add_argument("--rtol", type=float, nargs="+", default=RTOLS)
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--references", action="store_true", help="compute the references anew")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.only or list(PROBLEMS)
    if given.child:
        print(json.dumps(_solved(given.child[0], float(given.child[1]))), flush=True)
    elif given.references:
        _references(names)
    else:
        table(names, given.rtol)


def table(names: list[str], rtols: list[float]) -> None:
    """A line for each problem and tolerance, as they come."""
    print("".join(f"{title:<{width}}" for title, width in zip(COLUMNS, WIDTHS, strict=True)))
    for name in names:
        for rtol in rtols:
            print(_line(name, rtol, _in_a_process(name, rtol)), flush=True)


def _line(name: str, rtol: float, run: dict[str, Any]) -> str:
    shown = lambda key, form: "-" if run.get(key) is None else f"{run[key]:{form}}"
    bar = PROBLEMS[name].bars.get(rtol)
    cells = (
        *(name, f"{rtol:.0e}", run["outcome"], shown("error", ".1e"), shown("stated", ".1e")),
        *(shown("seconds", ".2f"), shown("processor", ".2f"), "-" if bar is None else f"{bar:g}"),
    )
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def _in_a_process(name: str, rtol: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.local", "--child", name, str(rtol)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {"outcome": "over the limit", "seconds": LIMIT}
    said = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(said[-1]) if said else {"outcome": "crashed"}


def _solved(name: str, rtol: float) -> dict[str, Any]:
    import numpy as np

    import tengbc as tb
    from benchmarks.local_references import load
    from benchmarks.ordinary_child import before
    from benchmarks.ordinary_references import errors

    problem = PROBLEMS[name].build()
    try:
        stored = load(name)
    except FileNotFoundError:
        return {"outcome": "no reference yet"}
    tb.solve(before(), rtol=1e-3, throw=False)
    began, used = time.perf_counter(), time.process_time()
    solution = tb.solve(problem, rtol=rtol, throw=False)
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    error = errors(solution.at_times(stored.points, stored.times), stored.values).max()
    counted = solution.times >= stored.times[0] * (1 - 1e-9)
    return {
        "outcome": solution.result.outcome.name.lower().replace("_", " "),
        "error": float(error),
        "stated": float(np.asarray(solution.error_estimate)[counted].max()),
        "seconds": seconds,
        "processor": processor,
    }


def _references(names: list[str]) -> None:
    from benchmarks.local_references import write

    for name in names:
        began = time.perf_counter()
        stored = write(name)
        seconds = time.perf_counter() - began
        print(f"{name}: worth {stored.worth:.1e}, {seconds:.0f} s, {stored.source}", flush=True)


if __name__ == "__main__":
    main()
