"""results/paper/README.md: the paper figure by figure and table by table, ours beside it."""

from pathlib import Path
from typing import Any

from tengbc.evidence.reproduction import catalog
from tengbc.evidence.reproduction.catalog import GROUPS, SCHEMES, paper_numbers
from tengbc.evidence.reproduction.run_case import time_reached
from tengbc.evidence.tables import markdown
from tengbc.runs.directory import read_summary, write_text

INTRODUCTION = """# The paper, by its own method

Written by `tengbc reproduce all --preset paper`, with `--tables-only` from the runs that are here.
Each run is a directory with its `summary.json` (options, seconds, versions, errors over time) and
its `history.csv` (every step). What the paper leaves open, what was chosen and why, and what limits
each run: [docs/paper-preset.md](../../docs/paper-preset.md). Errors are relative L² errors at
points that no fit has seen, the worst over 101 times.
"""
EULER = """Euler's error is that of its formula: computed mode by mode, without any network, it is
the line "its truncation". A printed value below that line cannot be reached by Euler steps of this
Δt, in whatever space, if errors are measured as here; so a cell of Euler is met where it is within
1 % of the larger of both."""
FIGURES = (
    ("Figure 2a, heat: predictions, exact solutions, errors at T = 1", "heat-maps"),
    ("Figure 2b, heat: errors over time", "heat-errors"),
    ("Figure 3, transport: errors over time", "transport-errors"),
    ("Figure 4a, Burgers: at some times", "burgers-frames"),
    ("Figure 4b–d, Burgers: distances between solvers", "burgers-distances"),
    *((f"Appendix, {name}: at some times", f"{name}-frames") for name in GROUPS["heat"]),
    ("Appendix, transport: at some times", "transport-frames"),
    ("Appendix, heat: loss of each step", "heat-loss"),
    ("Appendix, transport: loss of each step", "transport-loss"),
    ("Appendix, Burgers: loss of each step", "burgers-loss"),
)
"""What the paper shows, and the picture of ours."""
RUNS = """Not all were made with the same points and the same least squares: the method grew faster
and better meanwhile. Which were made with what, and which runs were made again and why, stands in
[docs/paper-preset.md](../../docs/paper-preset.md)."""
EULER_SLACK = 1.01
BASELINES = ("fem", "pinn-bfgs", "pinn-engd")


def write_page(root: Path) -> None:
    """Tables and figures of the preset `paper` under `root`, in the paper's order."""
    parts = [INTRODUCTION, "## Table 1, heat\n", _table_1(root), EULER, _verdict(root)]
    parts += ["## Transport\n", _transport(root), "## Table 2, Burgers\n", _burgers(root)]
    parts += [
        "## Baselines\n",
        _baselines(root),
        "## Every run\n",
        RUNS,
        _runs(root),
        "## Figures\n",
    ]
    for title, name in FIGURES:
        there = (root / f"{name}.png").is_file()
        parts.append(f"**{title}**\n\n" + (f"![{title}]({name}.png)" if there else NOT_YET))
    parts += ["## Appendix B, the step as a natural gradient\n", NATURAL]
    write_text(root / "README.md", "\n\n".join(part.strip() for part in parts) + "\n")


NOT_YET = "No run has left what it needs yet."
NATURAL = """`python -m benchmarks.natural_gradient` compares a step of the projection with −G⁻¹∇L,
metric and gradient written out from the paper's formulas, for Dirichlet, Neumann, Robin and mixed
rows;
`tests/benchmarks/test_natural_gradient.py` does so in every test run."""


def _run(problem: str, scheme: str) -> str:
    """The directory of a problem's run with a scheme."""
    return problem if scheme == catalog.DEFAULT_SCHEMES["paper"] else f"{problem}-{scheme}"


def _cell(root: Path, name: str) -> str:
    """The worst error of a run, or how far it came."""
    content = read_summary(root / name)
    if content is not None and content.get("relative_l2_max") is not None:
        return f"{content['relative_l2_max']:.2e}"
    reached = time_reached(root / name)
    return f"under way, t = {reached:g}" if reached else "not run"


def _table_1(root: Path) -> str:
    numbers, truncation = paper_numbers()["table_1"], paper_numbers()["euler_truncation"]
    columns = GROUPS["heat"]
    lines = [["", *columns]]
    for scheme in SCHEMES:
        lines.append([f"{scheme}, paper", *(f"{numbers[name][scheme]:.2e}" for name in columns)])
        if scheme == "euler":
            lines.append(["its truncation", *(f"{truncation[name]:.2e}" for name in columns)])
        ours = [_judged(root, name, scheme) for name in columns]
        lines.append([f"**{scheme}, ours**", *ours])
    return markdown(lines)


def _bar(name: str, scheme: str) -> float:
    """What a cell must not exceed."""
    printed = paper_numbers()["table_1"][name][scheme]
    if scheme != "euler":
        return printed
    return EULER_SLACK * max(printed, paper_numbers()["euler_truncation"][name])


def _error(root: Path, name: str) -> float | None:
    return (read_summary(root / name) or {}).get("relative_l2_max")


def _judged(root: Path, name: str, scheme: str) -> str:
    error, text = _error(root, _run(name, scheme)), _cell(root, _run(name, scheme))
    return f"**{text}**" if error is not None and error <= _bar(name, scheme) else text


def _verdict(root: Path) -> str:
    cells = [(name, scheme) for name in GROUPS["heat"] for scheme in SCHEMES]
    errors = {cell: _error(root, _run(*cell)) for cell in cells}
    finished = {cell: error for cell, error in errors.items() if error is not None}
    met = [cell for cell, error in finished.items() if error <= _bar(*cell)]
    above = [" ".join(cell) for cell in finished if cell not in met]
    said = f"Of {len(cells)} cells {len(finished)} have come to their end and {len(met)} of these"
    said += " are met (in bold)"
    return said + (f"; above the printed value: {', '.join(above)}." if above else ".")


def _transport(root: Path) -> str:
    """The paper prints a figure alone."""
    lines = [["scheme", "worst relative error to t = 1"]]
    lines += [[scheme, _cell(root, _run("transport", scheme))] for scheme in SCHEMES]
    return markdown(lines)


def _burgers(root: Path) -> str:
    numbers = paper_numbers()["table_2"]
    lines = [["", *(f"T = {t}" for t in numbers["times"])]]
    for scheme in SCHEMES:
        lines.append([f"{scheme}, paper", *(f"{e:.2e}" for e in numbers[scheme])])
        content = read_summary(root / _run("burgers", scheme)) or {}
        known = {round(t, 6): e for t, e in content.get("relative_l2_by_time") or []}
        cells = [f"{known[t]:.2e}" if t in known else "–" for t in numbers["times"]]
        if not known:
            cells[0] = _cell(root, _run("burgers", scheme))
        lines.append([f"**{scheme}, ours**", *cells])
    return markdown(lines)


def _baselines(root: Path) -> str:
    columns = (*GROUPS["heat"], *GROUPS["transport"], *GROUPS["burgers"])
    known = {case.name for group in GROUPS for case in catalog.cases(group, "paper")}
    lines = [["worst error (seconds)", *columns]]
    for solver in (*BASELINES, "spectral"):
        names = [f"{name}-{solver}" for name in columns]
        cells = [_with_seconds(root / name) if name in known else "–" for name in names]
        lines.append([solver, *cells])
    return markdown(lines)


def _runs(root: Path) -> str:
    """One line for each run of ours: what it was made with and what it cost."""
    lines = [["run", "interior points", "steps", "seconds", "worst error", "error over all times"]]
    for case in (case for group in GROUPS for case in catalog.cases(group, "paper")):
        content = read_summary(root / case.name)
        if case.solver == "paper" and content is not None:
            facts = [str(content.get(key, "–")) for key in ("interior_points", "steps")]
            errors = [f"{content[f'relative_l2_{kind}']:.2e}" for kind in ("max", "full")]
            lines.append([case.name, *facts, f"{content['seconds']['total']:.0f}", *errors])
    return markdown(lines)


def _with_seconds(directory: Path) -> str:
    content: dict[str, Any] = read_summary(directory) or {}
    error = content.get("relative_l2_max")
    return f"{error:.1e} ({content['seconds']['total']:.0f})" if error is not None else "not run"
