"""sweep(): many runs, of which those that are missing are done, and one table of all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tengbc.errors import OutputError, UsageError
from tengbc.progress import watched
from tengbc.runs.directory import Lock, write_text
from tengbc.sweeps.board import Board
from tengbc.sweeps.pool import Pool, cores
from tengbc.sweeps.result import Sweep, load_sweep
from tengbc.sweeps.rows import read_row, whole
from tengbc.sweeps.study import FILE, MARK, Study, read_study, stored_study, study

PATIENCE = 10.0
"""Seconds to wait for another process that writes study.json, which takes milliseconds."""


def sweep(
    what: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    grid: Mapping[str, Any] | None = None,
    list: Sequence[Mapping[str, Any]] | None = None,
    random: Mapping[str, Any] | None = None,
    quantities: Sequence[str] | None = None,
    times: Any = None,
    jobs: int | None = None,
    slurm: Mapping[str, Any] | bool = False,
    progress: bool | None = None,
    **choices: Any,
) -> Sweep:
    """Solve a problem with many values of its numbers and options, in as many processes as cores.

    **Arguments:**

    - `what`: a study's TOML file, or a problem: a benchmark's name or "FILE.py:NAME", where NAME
      may be a function whose arguments are varied.
    - `out`: the directory of the sweep. What is done there already is not done again.
    - `grid`: lists of values by name, all of which are combined; `list`: entries, a value by name
      each; `random`: `draws`, `draw_seed` and for each name a list to choose from or a range
      {"from": 0.1, "to": 10, "log": True}. Names are options of `solve`, or else arguments of the
      problem's function.
    - `quantities` of each solution, such as "integral", "flux:left", "value:0.5,0.5", at `times`,
      or at the end.
    - `jobs`: how many processes; `slurm`: whether they are tasks of an array job, with the options
      of submitit if there are any.
    - `progress`: whether it is shown, by default at a terminal and in a notebook.
    - any option of `tengbc.options.Options`, for all runs.

    Runs that fail are in the result, with their outcome. An interrupted sweep goes on when it is
    called again.
    """
    given: dict[str, Any] = {"out": out, "grid": grid, "list": list, "random": random}
    given |= {"quantities": quantities, "times": times, **choices}
    if isinstance(slurm, Mapping):
        given["slurm"] = dict(slurm)
    given = {key: value for key, value in given.items() if value is not None}
    if not isinstance(what, str | os.PathLike):
        raise UsageError(
            f"sweep takes a study's file or a problem's address, not {what!r}; its processes read "
            f'the problem from a file, so write "my_file.py:problem".'
        )
    text = os.fspath(what)
    if text.endswith(".toml"):
        chosen = read_study(Path(text), **given)
    else:
        chosen = study({"problem": text, **given})
    quiet = not (watched() if progress is None else progress)
    result, _, signal = perform(chosen, jobs, slurm is not False, quiet)
    if signal is not None:
        raise KeyboardInterrupt
    return result


def perform(
    chosen: Study, jobs: int | None, slurm: bool, quiet: bool
) -> tuple[Sweep, Board, int | None]:
    """Do what is missing of a study, then write its table and its page.

    Gives the result, what happened, and the signal that ended it.
    """
    if MARK in os.environ:
        raise UsageError(
            "A sweep is started while one of its processes reads the problem's file; put the call "
            'under `if __name__ == "__main__":`.'
        )
    if jobs is not None and (isinstance(jobs, bool) or not 1 <= jobs <= 10_000):
        raise UsageError(f"jobs is {jobs!r}, but it should be a number of processes; change it.")
    _check_place(chosen)
    missing = [run.number for run in chosen.runs if not _is_done(chosen, run.path)]
    board, signal = Board(chosen, len(missing), quiet), None
    if not missing:
        _claim(chosen)
    elif slurm:
        from tengbc.sweeps.slurm import follow, package, submit

        package()
        with Pool(1) as pool:
            pool.check(chosen)
        _claim(chosen)
        signal = follow(chosen, missing, submit(chosen, missing, jobs), board)
    else:
        with Pool(min(jobs or cores(), len(missing))) as pool:
            pool.check(chosen)
            _claim(chosen)
            signal = pool.work(chosen, missing, board)
    return write_results(chosen.out), board, signal


def write_results(out: Path) -> Sweep:
    """sweep.csv and sweep.html, from what the runs have left."""
    from tengbc.report.sweep_page import sweep_page

    result = load_sweep(out)
    write_text(out / "sweep.csv", result.to_csv())
    write_text(out / "sweep.html", sweep_page(out.name, result.study.parameters, _entries(result)))
    return result


def _entries(result: Sweep) -> Sequence[dict[str, Any]]:
    """Rows for the page: with the address of each run's report, where there is one."""
    found = []
    for row in result.rows:
        report = result.directory(row["run"]) / "report.html"
        found.append({**row, "report": f"runs/{report.parent.name}/report.html"})
        if not report.is_file():
            found[-1]["report"] = None
    return found


def _is_done(chosen: Study, path: Path) -> bool:
    return whole(read_row(path), chosen.quantities, chosen.times)


def _check_place(chosen: Study) -> None:
    """Refuse a directory that another study, or anything else, has."""
    out = chosen.out
    if (out / FILE).exists():
        _, known = stored_study(out)
        if known != chosen.hash:
            raise OutputError(
                f"{out} belongs to another study, or to another text of the problem's file; choose "
                f"another --out, or remove it first."
            )
    elif out.exists() and (not out.is_dir() or any(name != "lock" for name in os.listdir(out))):
        raise OutputError(f"{out} is there and holds no sweep; choose another --out.")


def _claim(chosen: Study) -> None:
    """Write study.json, under a lock: of two studies that begin at once one is refused."""
    with contextlib.suppress(OSError):  # the lock says in a sentence what is wrong
        chosen.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            lock = Lock(chosen.out)
            break
        except OutputError as error:
            if not error.in_use or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    try:
        _check_place(chosen)
        write_text(chosen.out / FILE, chosen.to_json())
    finally:
        lock.release()
