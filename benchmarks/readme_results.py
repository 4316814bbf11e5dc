"""The README's tables that stand on files in results/, written in place: nothing is run.

python -m benchmarks.readme_results
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.readme import README, insert
from tengbc.evidence.reproduction.catalog import GROUPS, paper_numbers

RESULTS = README.parent / "results"
SOLVERS = {
    "hp-fem": "finite elements of high order, NGSolve",
    "fast": "tengbc, preset `fast`",
    "fem": "finite elements, P2, curved",
    "pinn-engd": "PINN, energy natural gradient",
    "pinn-bfgs": "PINN, self-scaled BFGS",
    "paper": "preset `paper`",
}
HEAT = GROUPS["heat"]


def comparison() -> list[str]:
    """The best of each solver in the comparisons, and the user's seconds that it took."""
    rows = [
        "| error (seconds) | " + " | ".join(HEAT) + " |",
        "|" + " --- |" * (1 + len(HEAT)),
    ]
    for solver, label in SOLVERS.items():
        cells = [_best(RESULTS / "compare" / name / "comparison.csv", solver) for name in HEAT]
        if set(cells) != {"–"}:
            rows.append(f"| {label} | " + " | ".join(cells) + " |")
    return rows


def _best(path: Path, solver: str) -> str:
    """The best run of a solver."""
    with path.open() as file:
        found = [r for r in csv.DictReader(file) if r["solver"] == solver and r["best"] == "1"]
    if not found:  # it did not take part
        return "–"
    (best,) = found
    error, end = float(best["error"]), float(best["t_reached"])
    reached = _short(error, 1) if best["complete"] == "1" else f"{end:.0%} of the way"
    return f"{reached.replace('%', ' %')} ({float(best['user_seconds']):.2g})"


def burgers() -> list[str]:
    """Errors of the Burgers run at the paper's times, beside the paper's."""
    printed = paper_numbers()["table_2"]
    content = _json(RESULTS / "fast" / "burgers" / "summary.json")
    errors = {round(t, 9): error for t, error in content["relative_l2_by_time"]}
    ours = [errors[float(t)] for t in printed["times"]]
    return [
        "| relative L² error | " + " | ".join(f"T = {t}" for t in printed["times"]) + " |",
        "|" + " --- |" * (1 + len(ours)),
        "| against the 4096-mode reference | " + " | ".join(_short(e, 1) for e in ours) + " |",
        "| the paper, Heun | " + " | ".join(_short(e, 2) for e in printed["heun"]) + " |",
    ]


def paper() -> list[str]:
    """The full runs of the preset `paper`: Heun, which has the problem's own name, and RK4."""
    printed = paper_numbers()["table_1"]
    rows = [
        "| preset `paper`, worst over time | " + " | ".join(HEAT) + " |",
        "|" + " --- |" * (1 + len(HEAT)),
    ]
    for scheme, ending in (("heun", ""), ("rk4", "-rk4")):
        ours = [
            _json(RESULTS / "paper" / f"{name}{ending}" / "summary.json")["relative_l2_max"]
            for name in HEAT
        ]
        label = {"heun": "Heun", "rk4": "RK4"}[scheme]
        theirs = [printed[name][scheme] for name in HEAT]
        rows += [
            f"| {label}, here | " + " | ".join(_short(error, 2) for error in ours) + " |",
            f"| {label}, printed | " + " | ".join(_short(error, 2) for error in theirs) + " |",
        ]
    return rows


TABLES: dict[str, Callable[[], list[str]]] = {
    "comparison": comparison,
    "burgers": burgers,
    "paper": paper,
}


def written(text: str) -> str:
    """The README with all its tables as the results have them."""
    for name, rows in TABLES.items():
        text = insert(text, f"benchmarks.readme_results {name}", rows())
    return text


def _short(value: float, digits: int) -> str:
    """2.0e-6 in place of 2.0e-06."""
    return f"{value:.{digits}e}".replace("e-0", "e-")


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


if __name__ == "__main__":
    README.write_text(written(README.read_text("utf-8")), "utf-8")
