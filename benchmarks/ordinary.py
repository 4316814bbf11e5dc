"""Ordinary problems: what a user gets in which time, and NGSolve beside it.

    python -m benchmarks.ordinary [--short] [--rtol 1e-2 1e-4] [--only NAME …] [--limit SECONDS]
                                 [--strategy NAME]
    python -m benchmarks.ordinary --references [--only NAME …]

One line for each problem and tolerance: how tb.solve ended, its true error (worst relative L² error
at the stored times), the error that it states for the same times, and the user's seconds, those
of tb.solve in a process that has solved something else before. Then NGSolve (extra
`tengbc[hpfem]`; without it "-"): its seconds at our error, that is of the cheapest run from coarse
to fine that is at least as accurate, geometry to answer; the ratio of our seconds to these; and its
best error in our seconds. Where we give no answer, NGSolve's seconds are those to the tolerance.
Every solve has a process of its own, which is ended after the limit.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.ordinary_problems import PROBLEMS

RTOLS = (1e-2, 1e-4)
LIMIT = 300.0
SHORT = ("fin", "wall", "jump", "mixed-edge")
SHORT_LIMIT = 60.0
SPACES = (
    # size, order, layers around singular points
    (0.4, 3, 1),
    (0.25, 3, 2),
    (0.25, 4, 3),
    (0.2, 5, 3),
    (0.15, 6, 4),
    (0.12, 7, 5),
    (0.1, 8, 6),
    (0.1, 10, 8),
    (0.08, 12, 10),
)
"""NGSolve's meshes and orders, from coarse to fine."""
STEPS = (
    # longest step, stages, levels at the start, steps in each
    (0.1, 2, 2, 1),
    (0.1, 2, 4, 1),
    (0.05, 3, 4, 1),
    (0.05, 3, 6, 2),
    (0.025, 3, 8, 2),
    (0.025, 5, 8, 2),
    (0.0125, 5, 10, 3),
)
"""NGSolve's time steps, from coarse to fine."""
APART = 4
"""How far mesh and steps may differ in fineness: more would be a waste in one of them."""
WARMING = 120.0
"""Seconds for imports and for the solve before."""
PATIENCE, LEAST = 4, 20.0
"""Seconds of NGSolve's search, in units of ours, and at least."""
COLUMNS = (
    *("problem", "rtol", "outcome", "error", "stated", "s"),
    *("NGSolve s", "ratio", "NGSolve's error"),
)
WIDTHS = (12, 7, 23, 9, 9, 8, 11, 8, 17)


def main() -> None:
    """The command line."""
    given = _arguments()
    names = given.only or (SHORT if given.short else list(PROBLEMS))
    if given.references:
        for name in names:
            _make_reference(name)
        return
    limit = given.limit or (SHORT_LIMIT if given.short else LIMIT)
    table(names, given.rtol, limit, given.strategy)


def table(
    names: Sequence[str], rtols: Sequence[float], limit: float, strategy: str | None = None
) -> None:
    """A line for each problem and tolerance, as they come."""
    print("".join(f"{title:<{width}}" for title, width in zip(COLUMNS, WIDTHS, strict=True)))
    for name in names:
        for line in _lines(name, rtols, limit, strategy):
            print(line, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ordinary problems, ours and NGSolve's.")
    parser.add_argument("--short", action="store_true", help=f"only {', '.join(SHORT)}")
    parser.add_argument("--rtol", type=float, nargs="+", default=RTOLS)
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--limit", type=float, help="seconds for one solve")
    parser.add_argument("--strategy", help="how to solve, by default the package's own choice")
    parser.add_argument("--references", action="store_true", help="compute the references anew")
    return parser.parse_args()


def _make_reference(name: str) -> None:
    from benchmarks.ordinary_references import write

    began = time.perf_counter()
    stored = write(name)
    print(f"{name}: worth {stored.worth:.1e}, {time.perf_counter() - began:.0f} s, {stored.source}")


def _lines(name: str, rtols: Sequence[float], limit: float, strategy: str | None) -> Iterator[str]:
    """The lines of a problem; NGSolve's runs serve all tolerances."""
    ours = [_ours(name, rtol, limit, strategy) for rtol in rtols]
    solved = [run for run in ours if run["error"] is not None]
    target = min((run["error"] for run in solved), default=min(rtols))
    seconds = max((run["seconds"] for run in solved), default=limit)
    runs = _rivals(name, target, seconds, limit)
    for rtol, run in zip(rtols, ours, strict=True):
        yield _line(name, rtol, run, runs)


def _line(name: str, rtol: float, run: dict[str, Any], rivals: list[dict[str, Any]]) -> str:
    wanted = rtol if run["error"] is None else run["error"]
    enough = [rival["seconds"] for rival in rivals if rival["error"] <= wanted]
    in_time = [rival["error"] for rival in rivals if rival["seconds"] <= run["seconds"]]
    cheapest = min(enough, default=None)
    ratio = run["seconds"] / cheapest if cheapest and run["error"] is not None else None
    cells = (
        *(name, f"{rtol:.0e}", run["outcome"]),
        *(_shown(run["error"], ".1e"), _shown(run["stated"], ".1e"), _shown(run["seconds"], ".2f")),
        *(_shown(cheapest, ".2f"), _shown(ratio, ".1f"), _shown(min(in_time, default=None), ".1e")),
    )
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True))


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _ours(name: str, rtol: float, limit: float, strategy: str | None = None) -> dict[str, Any]:
    """tb.solve in a process of its own."""
    said, over = _child(["ours", name, str(rtol), *([strategy] if strategy else [])], limit)
    if said:
        return said[-1]
    outcome = "over the limit" if over else "crashed"
    return {"outcome": outcome, "error": None, "stated": None, "seconds": limit}


def _rivals(name: str, target: float, ours: float, limit: float) -> list[dict[str, Any]]:
    """NGSolve's runs, from coarse to fine."""
    if importlib.util.find_spec("ngsolve") is None:
        return []
    budget = min(limit, max(LEAST, PATIENCE * ours))
    return _child(["rival", name, *map(str, (target, ours, budget))], 2 * budget)[0]


def _child(arguments: list[str], limit: float) -> tuple[list[dict[str, Any]], bool]:
    """What a process says, and whether it had to be ended, `limit` seconds after it was ready."""
    command = [sys.executable, "-m", "benchmarks.ordinary_child", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    timer = threading.Timer(limit + WARMING, process.kill)
    timer.start()
    said = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith('{"ready"'):
                timer.cancel()
                timer = threading.Timer(limit, process.kill)
                timer.start()
            elif line.startswith("{"):
                said.append(json.loads(line))
    finally:
        over = not timer.is_alive()
        timer.cancel()
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
    return said, over


if __name__ == "__main__":
    main()
