"""One run of a reproduction: solve, measure, leave summary, history and the fields of figures."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from tengbc.baselines.finished import Finished
from tengbc.baselines.registry import BASELINES, run_baseline
from tengbc.options import options
from tengbc.problem import Problem
from tengbc.reproduction.catalog import CELL_TOLERANCE, Case
from tengbc.runs import output
from tengbc.runs.summary import measure, summary
from tengbc.solver import Solution, solve
from tengbc.solver.fast import solve_once
from tengbc.solver.measure import Truth
from tengbc.solver.plan import Report

FRAMES = (0.0, 0.25, 0.5, 1.0)
"""Parts of the final time at which fields are drawn."""


def is_done(directory: Path) -> bool:
    """Whether a run has left its summary, which is written last."""
    return (directory / "summary.json").is_file()


def run_case(case: Case, problem: Problem, directory: Path, report: Report) -> dict[str, Any]:
    """Solve and write; the summary is returned too."""
    directory.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    solution = _solve(case, problem, report)
    seconds = {"total": time.perf_counter() - began}
    content = summary(solution, measure(solution), seconds)
    if solution.history:
        output.write_history(directory, solution.history)
    _write_fields(directory, problem, solution)
    output.write_summary(directory, content)
    return content


def _solve(case: Case, problem: Problem, report: Report) -> Solution | Finished:
    if case.solver in BASELINES:
        assert problem.t_end is not None
        times = Truth(problem).times(problem.t_end)
        return run_baseline(case.solver, problem, times=times, report=report, **case.choices)
    if case.solver == "fast" and case.choices:
        # A cell of the table: its error is measured against the truth, so no witness is called.
        given = options(preset="fast", rtol=CELL_TOLERANCE, t_end=problem.t_end, **case.choices)
        return solve_once(problem, given, report)
    return solve(problem, preset=case.solver, throw=False, report=report, **case.choices)


def _write_fields(directory: Path, problem: Problem, solution: Solution | Finished) -> None:
    """fields.npz: what the solution misses at the points of evaluation, single precision."""
    truth = Truth(problem)
    reached = float(solution.times[-1])
    times = _nearest(truth.times(reached), [part * reached for part in FRAMES])
    values = solution.at_times(truth.points, times)
    missed = np.stack([u - truth.values(t) for u, t in zip(values, times, strict=True)])
    temporary = directory / ".fields.npz"
    np.savez_compressed(temporary, times=times, error=missed.astype(np.float32))
    temporary.replace(directory / "fields.npz")


def _nearest(known: np.ndarray, wanted: list[float]) -> np.ndarray:
    return np.unique([known[np.argmin(np.abs(known - t))] for t in wanted])


def read_summary(directory: Path) -> dict[str, Any] | None:
    """The summary of a run, None if there is none."""
    path = directory / "summary.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else None
