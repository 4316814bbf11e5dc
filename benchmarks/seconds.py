"""What a user waits for, beside what was promised: every row a figure and its bar.

    python -m benchmarks.seconds [--burgers] [--repeats 3]

User's seconds are all that pass between the call and the answer. Each figure is the median over
processes of its own, in the environment of the caller, so leave OPENBLAS_NUM_THREADS and its like
unset. Ratios to NGSolve (extra `tengbc[hpfem]`; without it "-") are at equal error: of its runs
from coarse to fine the cheapest that is at least as accurate as ours, both warm, with true errors
at ten times; ours comes with its error measured, which NGSolve's does not. `--burgers` adds
minutes: the periodic Burgers problem to T = 4.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

HEAT = ("heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed")
REPEATS = 3
"""Processes for each figure."""
NUMBERS = 100
"""How many values of κ and of the Robin coefficients the loop has."""
BUSY = 2
"""Loops beside the command on the busy machine."""
WIDTHS = (46, 9, 9, 7)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="User's seconds beside their bars.")
    parser.add_argument("--burgers", action="store_true", help="Burgers to T = 4 too (minutes)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="processes for each figure")
    given = parser.parse_args()
    table(given.repeats, given.burgers)


def table(repeats: int, burgers: bool = False) -> None:
    """All rows, as they come."""
    print(row("user's seconds, or their ratio", "figure", "bar", "aim", ""), flush=True)
    for rows in (_warm(repeats), _starts(repeats), _fronts(burgers)):
        for line in rows:
            print(line, flush=True)


def row(
    what: str, figure: float | str | None, bar: float | str, aim: float | str, note: str
) -> str:
    """A line; a figure above its bar is marked."""
    missed = isinstance(figure, float) and isinstance(bar, float) and figure > bar
    shown = "-" if figure is None else f"{figure:.3g}" if isinstance(figure, float) else figure
    cells = (what, shown + (" !" if missed else ""), f"{bar}", f"{aim}")
    line = "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))
    return (line + note).rstrip()


def _warm(repeats: int) -> Iterator[str]:
    """The second problem in a process, and NGSolve's seconds at the same error."""
    for rtol, bar, aim in ((1e-6, 0.2, 0.07), (1e-10, 1.5, 0.5)):
        for name in (*HEAT, "transport") if rtol < 1e-6 else HEAT:
            ours = _second(name, rtol, repeats)
            known = _known(ours)
            robin = name == "heat-robin"
            limits = (0.8, 0.3) if robin and rtol < 1e-6 else (bar, aim)
            limits = limits if robin or rtol < 1e-6 else ("", "")
            yield row(
                f"{name}, rtol {rtol:.0e}, second in a process", ours["seconds"], *limits, known
            )
            if name in HEAT:
                yield _rivalry(name, rtol, ours)
    loop = child("loop", str(NUMBERS))
    known = f"{loop['compiled']} programs compiled after the first"
    yield row(f"one of {NUMBERS} values of κ, a, b; rtol 1e-6", loop["seconds"], 0.15, 0.05, known)


def _known(run: dict[str, Any]) -> str:
    """Errors, and the seconds that `tengbc check` foretells."""
    return f"error {run['error']:.1e}, stated {run['stated']:.1e}, {run['foretold']:.2g} s foretold"


def _second(name: str, rtol: float, repeats: int) -> dict[str, Any]:
    return median([child("second", name, str(rtol)) for _ in range(repeats)])


def _rivalry(name: str, rtol: float, ours: dict[str, Any]) -> str:
    what = f"{name}, rtol {rtol:.0e}, ratio to NGSolve"
    if importlib.util.find_spec("ngsolve") is None:
        return row(what, None, 2.0, 1.0, "NGSolve is not installed")
    rival = child("rival", name, str(ours["error"]))
    if rival["seconds"] is None:
        return row(what, None, 2.0, 1.0, f"NGSolve's best error is {rival['error']:.1e}")
    ratio = ours["seconds"] / rival["seconds"]
    known = f"{rival['seconds']:.3f} s, error {rival['error']:.1e}, {rival['setting']}"
    return row(what, ratio, 2.0, 1.0, known)


def _starts(repeats: int) -> Iterator[str]:
    """What begins with nothing in memory and empty caches of our own."""
    cold = median([child("first", "heat-robin") for _ in range(repeats)])
    known = f"of which {cold['import']:.2f} for imports; error {cold['error']:.1e}"
    yield row("first tb.solve(heat-robin) in a process", cold["seconds"], 3.0, 1.5, known)
    quiet = statistics.median(command_seconds() for _ in range(repeats))
    yield row("tengbc run heat-robin --out, report included", quiet, 5.0, 3.0, "")
    with busy_loops(BUSY):
        busy = statistics.median(command_seconds() for _ in range(repeats))
    known = f"{busy:.2f} s beside {BUSY} busy loops on {os.cpu_count()} cores"
    yield row("the same on a busy machine, ratio to quiet", busy / quiet, 3.0, 2.0, known)


def _fronts(burgers: bool) -> Iterator[str]:
    line = child("line")
    known = f"error {line['error']:.1e}, stated {line['stated']:.1e}"
    yield row("Burgers on a line, ν = 0.01/π, default rtol", line["seconds"], 10.0, 3.0, known)
    if burgers:
        square = child("square")
        yield row("Burgers on the square to T = 4", square["seconds"], 360.0, 120.0, _known(square))


def child(*arguments: str) -> dict[str, Any]:
    """What a process of its own says; its caches are empty."""
    command = [sys.executable, "-m", "benchmarks.seconds_child", *arguments]
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(command, env=_cold(empty), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def command_seconds(name: str = "heat-robin") -> float:
    """The command line, from its start to its end."""
    with tempfile.TemporaryDirectory() as empty:
        command = [sys.executable, "-m", "tengbc", "run", name, "--out", f"{empty}/run", "--quiet"]
        began = time.perf_counter()
        subprocess.run(command, env=_cold(empty), check=True, capture_output=True)
        return time.perf_counter() - began


def _cold(empty: str) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": empty}


@contextlib.contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Processes that do nothing as fast as they can."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def median(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run whose seconds are in the middle."""
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


if __name__ == "__main__":
    main()
