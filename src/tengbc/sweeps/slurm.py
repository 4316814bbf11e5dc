"""Runs of a study as the tasks of an array job, by submitit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tengbc.errors import UsageError
from tengbc.optional import extra
from tengbc.sweeps.board import Board
from tengbc.sweeps.pool import watch_signals
from tengbc.sweeps.rows import UNFINISHED, read_row, whole
from tengbc.sweeps.study import Study
from tengbc.sweeps.worker import work_through

LOOK_EVERY = 1.0
"""Seconds between two looks at the runs' directories."""
USUAL = {"cpus_per_task": 1, "name": "tengbc"}


def package() -> Any:
    """submitit, or a sentence on how to install it."""
    return extra("submitit", "--slurm", "slurm")


def submit(study: Study, numbers: Sequence[int], tasks: int | None) -> list[Any]:
    """An array job whose tasks share the runs; `[slurm]` of the study says what each may use.

    `cluster = "local"` there makes them processes of this machine, to try it out.
    """
    wanted = USUAL | (study.slurm or {})
    cluster = wanted.pop("cluster", "slurm")
    count = min(tasks or len(numbers), len(numbers))
    try:
        executor = package().AutoExecutor(study.out / "slurm", cluster=cluster)
        executor.update_parameters(**wanted)
        shares = [list(numbers[k::count]) for k in range(count)]
        return executor.map_array(work_through, [str(study.out.absolute())] * count, shares)
    except Exception as error:  # of submitit and of sbatch there are many kinds
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise UsageError(f"The jobs cannot be submitted ({said}); change [slurm].") from None


def follow(study: Study, numbers: Sequence[int], jobs: Sequence[Any], board: Board) -> int | None:
    """Wait until the tasks have ended; a signal ends the waiting, not the tasks."""
    left = dict.fromkeys(numbers)
    with board, watch_signals() as watch:
        while left and not watch.stopping:
            over = all(job.done() for job in jobs)  # asked first: what they wrote is then there
            for number in list(left):
                row = read_row(study.runs[number - 1].path)
                if row is not None and whole(row, study.quantities, study.times):
                    board.ends(number, row["outcome"], row["message"])
                    del left[number]
            board.draw()
            if over:
                break
            for _ in range(round(LOOK_EVERY / 0.1)):
                if not watch.stopping:
                    time.sleep(0.1)
        if not watch.stopping:
            for number in left:
                board.ends(number, UNFINISHED, f"its job has ended; see {study.out / 'slurm'}.")
    return watch.received
