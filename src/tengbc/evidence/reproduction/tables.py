"""The paper's tables with ours beside them, as Markdown and CSV."""

from pathlib import Path
from typing import Any

import numpy as np

from tengbc.evidence.reproduction import catalog
from tengbc.evidence.reproduction.catalog import SCHEMES, paper_numbers
from tengbc.evidence.reproduction.run_case import read_curve, time_reached
from tengbc.evidence.tables import markdown, text_csv
from tengbc.runs.directory import read_summary, write_text

HEADER = ["problem", "scheme", "ours_worst", "ours_full", "ours_final"]
HEADER += ["paper", "truncation_worst", "seconds", "outcome"]
BASELINE_ROWS = ("fem", "pinn-bfgs", "pinn-engd")
NAMES = {"heat": "table-1", "transport": "transport", "burgers": "table-2"}
Table = tuple[list[list[str]], list[list[Any]]]
"""What people read, and what programs read."""


def write_tables(group: str, preset: str, root: Path) -> None:
    """table-1, transport or table-2, from the summaries under `root`."""
    lines, rows = _table_2(preset, root) if group == "burgers" else _table_1(group, preset, root)
    write_text(root / f"{NAMES[group]}.md", markdown(lines))
    write_text(root / f"{NAMES[group]}.csv", text_csv(rows))


def _table_1(group: str, preset: str, root: Path) -> Table:
    """Schemes and baselines against problems; the paper prints no numbers for transport."""
    columns, default = catalog.GROUPS[group], catalog.DEFAULT_SCHEMES[preset]
    paper = paper_numbers()["table_1"]
    printed = all(name in paper for name in columns)
    truncation = paper_numbers()["euler_truncation"]  # what no projection could avoid
    lines: list[list[str]] = [["worst relative L² error over time", *columns]]
    rows: list[list[Any]] = [HEADER]

    def add(label: str, scheme: str, ending: str) -> None:
        """One line, from the run of each problem whose directory has that ending."""
        found = {name: read_summary(root / f"{name}{ending}") for name in columns}
        reached = {name: time_reached(root / f"{name}{ending}") for name in columns}
        lines.append([label, *(_worst(found[name], reached[name]) for name in columns)])
        for name in columns:
            theirs = paper[name].get(scheme, "") if printed else ""
            own = f"{truncation[name]:.4e}" if printed and scheme == "euler" else ""
            rows.append([name, scheme, *_numbers(found[name], theirs, own)])

    for scheme in SCHEMES:
        add(f"{scheme}, ours", scheme, "" if scheme == default else f"-{scheme}")
        if printed:
            lines.append([f"{scheme}, paper", *(f"{paper[name][scheme]:.2e}" for name in columns)])
        if printed and scheme == "euler":
            own = [f"{truncation[name]:.2e}" for name in columns]
            lines.append(["euler, its own truncation, mode by mode", *own])
    if preset == "fast":
        add("the fast preset's default", "default", "")
    for solver in BASELINE_ROWS:
        add(solver, solver, f"-{solver}")
    return lines, rows


def _table_2(preset: str, root: Path) -> Table:
    paper = paper_numbers()["table_2"]
    times = paper["times"]
    lines: list[list[str]] = [["relative L² error", *(f"T = {t}" for t in times)]]
    rows: list[list[Any]] = [["run", "t", "ours", "paper"]]
    beside = set()
    for name in (case.name for case in catalog.cases("burgers", preset)):
        curve = read_curve(read_summary(root / name))
        label = name.removeprefix("burgers-") if name != "burgers" else f"{preset}, default"
        key = "heun" if preset == "paper" and name == "burgers" else name.removeprefix("burgers-")
        key = "fem" if key == "fem-256" else key
        found = [curve[np.isclose(curve[:, 0], t), 1] for t in times]
        ours = [float(match[0]) if len(match) else float("nan") for match in found]
        lines.append([f"{label}, ours", *(f"{e:.2e}" if np.isfinite(e) else "–" for e in ours)])
        known = paper.get(key)
        beside.add(key)
        if known:
            lines.append([f"{label}, paper", *(f"{e:.2e}" for e in known)])
        for t, e, theirs in zip(times, ours, known or [""] * len(times), strict=True):
            rows.append([name, t, f"{e:.4e}" if np.isfinite(e) else "", theirs])
    for name in (*SCHEMES, "fem"):  # what the paper has and this preset did not run
        if name not in beside:
            lines.append([f"{name}, paper", *(f"{e:.2e}" for e in paper[name])])
            rows += [[name, t, "", e] for t, e in zip(times, paper[name], strict=True)]
    return lines, rows


def _worst(content: dict[str, Any] | None, reached: float) -> str:
    """The worst error of a run; of one under way, how far it came."""
    if content is None and reached:
        return f"under way, t = {reached:g}"
    if content is None or content.get("relative_l2_max") is None:
        return "–"
    finished = content["outcome"] in ("done", "tolerance not reached")
    return f"{content['relative_l2_max']:.2e}" if finished else content["outcome"]


def _numbers(content: dict[str, Any] | None, *others: Any) -> list[Any]:
    """The errors of a summary, what stands beside them, its seconds and its outcome."""
    known = content or {"seconds": {}, "outcome": "not run"}
    errors = [known.get(f"relative_l2_{kind}") for kind in ("max", "full", "final")]
    cells = ["" if error is None else f"{error:.4e}" for error in errors]
    return [*cells, *others, known["seconds"].get("total", ""), known["outcome"]]
