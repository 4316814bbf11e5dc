"""The paper's tables with ours beside them, as Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengbc import problems
from tengbc.reproduction.catalog import DT, GROUPS, SCHEMES, cases, paper_numbers
from tengbc.reproduction.run_case import read_curve
from tengbc.reproduction.truncation import euler_error
from tengbc.runs.directory import read_summary, write_text

HEADER = (
    "problem",
    "scheme",
    "ours_worst",
    "ours_full",
    "ours_final",
    "paper",
    "truncation_worst",
    "seconds",
    "outcome",
)
BASELINE_ROWS = ("fem", "pinn-bfgs", "pinn-engd")


def write_tables(group: str, preset: str, root: Path) -> None:
    """table-1, transport or table-2, from the summaries under `root`."""
    lines, rows = {"heat": _table_1, "transport": _transport, "burgers": _table_2}[group](
        preset, root
    )
    name = {"heat": "table-1", "transport": "transport", "burgers": "table-2"}[group]
    write_text(root / f"{name}.md", markdown(lines))
    write_text(root / f"{name}.csv", text_csv(rows))


def _directory(root: Path, problem: str, scheme: str, preset: str) -> Path:
    default = {"fast": "radau9", "paper": "heun"}[preset]
    return root / (problem if scheme == default else f"{problem}-{scheme}")


def _table_1(preset: str, root: Path):
    columns = GROUPS["heat"]
    paper = paper_numbers()["table_1"]
    lines: list[list[str]] = [["worst relative L² error over time", *columns]]
    rows: list[list[Any]] = [list(HEADER)]
    truncation = {name: _truncation(name) for name in columns}
    for scheme in SCHEMES:
        found = {name: read_summary(_directory(root, name, scheme, preset)) for name in columns}
        lines.append([f"{scheme}, ours", *(_worst(found[name]) for name in columns)])
        lines.append([f"{scheme}, paper", *(f"{paper[name][scheme]:.2e}" for name in columns)])
        if scheme == "euler":
            lines.append(
                ["euler, its own truncation, mode by mode"]
                + [f"{truncation[name]:.2e}" for name in columns]
            )
        for name in columns:
            own = f"{truncation[name]:.4e}" if scheme == "euler" else ""
            rows.append([name, scheme, *_numbers(found[name]), paper[name][scheme], own])
            rows[-1] += _ending(found[name])
    if preset == "fast":
        found = {name: read_summary(root / name) for name in columns}
        lines.append(["the fast preset's default", *(_worst(found[name]) for name in columns)])
        rows += [
            [name, "default", *_numbers(found[name]), "", "", *_ending(found[name])]
            for name in columns
        ]
    _add_baselines(lines, rows, columns, root)
    return lines, rows


def _transport(preset: str, root: Path):
    lines: list[list[str]] = [["worst relative L² error over time", "transport"]]
    rows: list[list[Any]] = [list(HEADER)]
    for scheme in SCHEMES:
        found = read_summary(_directory(root, "transport", scheme, preset))
        lines.append([f"{scheme}, ours", _worst(found)])
        rows.append(["transport", scheme, *_numbers(found), "", "", *_ending(found)])
    if preset == "fast":
        found = read_summary(root / "transport")
        lines.append(["the fast preset's default", _worst(found)])
        rows.append(["transport", "default", *_numbers(found), "", "", *_ending(found)])
    _add_baselines(lines, rows, ("transport",), root)
    return lines, rows


def _add_baselines(lines: list, rows: list, columns: Sequence[str], root: Path) -> None:
    for solver in BASELINE_ROWS:
        found = {name: read_summary(root / f"{name}-{solver}") for name in columns}
        lines.append([solver, *(_worst(found[name]) for name in columns)])
        rows += [
            [name, solver, *_numbers(found[name]), "", "", *_ending(found[name])]
            for name in columns
        ]


def _table_2(preset: str, root: Path):
    paper = paper_numbers()["table_2"]
    times = paper["times"]
    lines: list[list[str]] = [["relative L² error", *(f"T = {t}" for t in times)]]
    rows: list[list[Any]] = [["run", "t", "ours", "paper"]]
    names, beside = [case.name for case in cases("burgers", preset)], set()
    for name in names:
        curve = read_curve(read_summary(root / name))
        label = name.removeprefix("burgers-") if name != "burgers" else f"{preset}, default"
        key = "heun" if preset == "paper" and name == "burgers" else name.removeprefix("burgers-")
        key = "fem" if key == "fem-256" else key
        ours = [_at(curve, t) for t in times]
        lines.append([f"{label}, ours", *(f"{e:.2e}" if np.isfinite(e) else "–" for e in ours)])
        known = paper.get(key)
        beside.add(key)
        if known:
            lines.append([f"{label}, paper", *(f"{e:.2e}" for e in known)])
        for index, t in enumerate(times):
            value = f"{ours[index]:.4e}" if np.isfinite(ours[index]) else ""
            rows.append([name, t, value, known[index] if known else ""])
    for name in (*SCHEMES, "fem"):  # what the paper has and this preset did not run
        if name not in beside:
            lines.append([f"{name}, paper", *(f"{e:.2e}" for e in paper[name])])
            rows += [[name, t, "", e] for t, e in zip(times, paper[name], strict=True)]
    return lines, rows


def _at(curve: np.ndarray, t: float) -> float:
    match = curve[np.isclose(curve[:, 0], t)] if len(curve) else curve
    return float(match[0, 1]) if len(match) else float("nan")


def _truncation(name: str) -> float:
    return float(euler_error(problems.get(name), DT)[:, 1].max())


def _worst(content: dict[str, Any] | None) -> str:
    if content is None or content.get("relative_l2_max") is None:
        return "–"
    finished = content["outcome"] in ("done", "tolerance not reached")
    return f"{content['relative_l2_max']:.2e}" if finished else content["outcome"]


def _numbers(content: dict[str, Any] | None) -> list[str]:
    keys = ("relative_l2_max", "relative_l2_full", "relative_l2_final")
    values = [(content or {}).get(key) for key in keys]
    return ["" if value is None else f"{value:.4e}" for value in values]


def _ending(content: dict[str, Any] | None) -> list[Any]:
    if content is None:
        return ["", "not run"]
    return [content["seconds"].get("total", ""), content["outcome"]]


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table, the first line being its head."""
    head, *body = lines
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *body))


def text_csv(rows: Sequence[Sequence[Any]]) -> str:
    """Rows with commas."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
