"""One run of a reproduction: solve, measure, leave a summary and what the figures need."""

import io
import time
from pathlib import Path
from typing import Any

import numpy as np

from tengbc.evidence.baselines.registry import BASELINES, run_baseline
from tengbc.evidence.reproduction.catalog import CELL_TOLERANCE, Case
from tengbc.evidence.tables import text_csv
from tengbc.options import options
from tengbc.problem import Problem
from tengbc.provenance import provenance
from tengbc.runs.checkpoints import Checkpoint, Checkpoints
from tengbc.runs.config import Config
from tengbc.runs.directory import (
    RunDirectory,
    read_options,
    read_summary,
    write_summary,
    write_text,
)
from tengbc.runs.session import run_in_directory
from tengbc.solution import Solution
from tengbc.solution.measure import Truth
from tengbc.solution.protocol import SolutionLike
from tengbc.solution.summary import measure, summary
from tengbc.solver import solve
from tengbc.solver.solve import solve_once
from tengbc.storage.atomic import write_atomically
from tengbc.storage.history_file import read_history
from tengbc.types import Progress

FRAMES = (0.0, 0.1, 0.4, 1.0)
"""Parts of the final time at which fields are drawn."""
LOSSES = 200
"""Steps of a loss curve that are kept."""
LOSS_QUANTITIES = ("fit_residual", "spectrum_tail")
"""What tells how well a step went, whichever a strategy measures."""
FIT = "initial fit"
"""The stage that runs of one problem may share."""
FIT_OPTIONS = {"seed", "widths", "activation", "embedding_size", "fit_iterations"}
"""All that it depends on, beside the problem."""
COARSE = 4
"""Of the reference's points every fourth along each axis is kept."""


def run_case(case: Case, problem: Problem, directory: Path, progress: Progress) -> bool:
    """Solve and write; False if the run was interrupted, so that it can be taken up again."""
    if case.solver == "paper":
        solution = _resumable(case, problem, directory, progress)
        if solution is not None:
            write_fields(directory, problem, solution)
        return solution is not None
    directory.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    solution = _solve(case, problem, progress)
    seconds = time.perf_counter() - began
    content = summary(solution, measure(solution), {"total": seconds})
    chosen = " ".join(f"{name}={value}" for name, value in case.choices.items())
    content["provenance"] = provenance(f"{case.solver} {case.problem} {chosen}".strip(), seconds)
    if solution.history:
        write_text(directory / "loss.csv", _losses(solution))
    if case.name == case.problem or case.problem == "burgers":
        write_fields(directory, problem, solution)
    write_summary(directory, content)
    return True


def _solve(case: Case, problem: Problem, progress: Progress) -> SolutionLike:
    if case.solver in BASELINES:
        assert problem.t_end is not None
        times = Truth(problem).times(problem.t_end)
        return run_baseline(case.solver, problem, times=times, progress=progress, **case.choices)
    if case.choices:
        # A cell of the table: its error is measured against the truth, so there is no companion.
        given = options(preset="fast", rtol=CELL_TOLERANCE, t_end=problem.t_end, **case.choices)
        return solve_once(problem, given, progress)
    return solve(problem, preset="fast", throw=False, progress=progress)


def _resumable(case: Case, problem: Problem, path: Path, progress: Progress) -> Solution | None:
    """The preset `paper` takes hours: its run directory lets it go on after any interruption."""
    if (path / "options.toml").is_file():
        directory, chosen = RunDirectory.open(path)
    else:
        chosen = Config(case.problem, options(preset="paper", **case.choices))
        directory = RunDirectory.create(path, chosen)
    try:
        before = directory.newest_checkpoint(chosen, directory.log) or _same_start(path, chosen)
        ended = run_in_directory(problem, chosen, directory, before, progress, 0.0)
    finally:
        directory.close()
    return None if ended.content is None else ended.solution


def _same_start(path: Path, chosen: Config) -> Checkpoint | None:
    """The initial fit of a neighbour that began alike, with its seconds."""
    alike = _start_of(chosen)
    for neighbour in sorted(path.parent.glob(f"{chosen.problem}*")):
        if neighbour == path or not (neighbour / "options.toml").is_file():
            continue
        found, _ = Checkpoints(neighbour / "checkpoints").newest()
        fit = found and found.stages.get(FIT)
        if found and fit and fit.finished and _start_of(read_options(neighbour)) == alike:
            spent = {FIT: found.about["stage_seconds"][FIT]}
            return Checkpoint({"seconds": spent[FIT], "stage_seconds": spent}, {FIT: fit})
    return None


def _start_of(chosen: Config) -> tuple[str, dict[str, Any]]:
    return chosen.problem, chosen.options.model_dump(include=FIT_OPTIONS)


def _losses(solution: SolutionLike) -> str:
    """The time and what was measured of about LOSSES steps."""
    records = solution.history[:: max(1, len(solution.history) // LOSSES)]
    names = list(records[0].measured)
    rows = [["time", *names]]
    for record in records:
        values = (record.measured.get(name, float("nan")) for name in names)
        rows.append([f"{record.time:.6g}", *(f"{value:.3e}" for value in values)])
    return text_csv(rows)


def write_fields(directory: Path, problem: Problem, solution: SolutionLike) -> None:
    """fields.npz: what the solution misses at the points of evaluation, in single precision."""
    truth = Truth(problem)
    kept = field_points(problem)
    times = truth.times(float(solution.times[-1]))
    if problem.reference is None:
        wanted = [part * times[-1] for part in FRAMES]
        times = np.unique([times[np.argmin(np.abs(times - t))] for t in wanted])
    values = solution.at_times(truth.points[kept], times)
    missed = np.stack([u - truth.values(t)[kept] for u, t in zip(values, times, strict=True)])
    data = io.BytesIO()
    np.savez_compressed(data, times=times, error=missed.astype(np.float32))
    write_atomically(directory / "fields.npz", data.getvalue())


def field_points(problem: Problem) -> np.ndarray:
    """Which points of evaluation the fields hold: all, or part of a reference's grid."""
    points = Truth(problem).points
    if problem.reference is None:
        return np.arange(len(points))
    side = round(np.sqrt(len(points)))
    return np.arange(len(points)).reshape(side, side)[::COARSE, ::COARSE].ravel()


def read_fields(directory: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Times and errors of fields.npz, None if there is none."""
    path = directory / "fields.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as data:
        return data["times"], data["error"].astype(float)


def read_losses(directory: Path) -> tuple[str, list[tuple[float, float]]]:
    """What the answer's steps were judged by, and (time, value) of those that were kept."""
    march = (read_summary(directory) or {}).get("march")
    for name in ("loss.csv", "history.csv"):
        rows = read_history(directory / name, march if name == "history.csv" else None)
        judged = [quantity for quantity in LOSS_QUANTITIES if rows and rows[0].get(quantity)]
        if judged:
            pairs = [(float(row["time"]), float(row[judged[0]])) for row in rows]
            return judged[0], pairs
    return "", []


def time_reached(directory: Path) -> float:
    """The time of the last step that a run has written down, 0 where there is none."""
    rows = read_history(directory / "history.csv")
    return float(rows[-1]["time"]) if rows else 0.0


def read_curve(content: dict[str, Any] | None) -> np.ndarray:
    """(t, error) pairs of a summary, none where there is none."""
    pairs = (content or {}).get("relative_l2_by_time") or []
    return np.array(pairs, dtype=float).reshape(-1, 2)
