"""What a run directory costs: `python -m benchmarks.checkpoints` (a minute).

Checkpoints of the preset `paper` in its default size, up to all the states that a march of 1,000
steps keeps; and the part of a shortened run that goes into them.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import tengbc as tb
from tengbc.journal import Snapshot
from tengbc.runs.checkpoint_journal import INTERVAL, CheckpointJournal
from tengbc.runs.checkpoints import Checkpoint, Checkpoints
from tengbc.runs.config import config
from tengbc.runs.directory import RunDirectory
from tengbc.runs.session import run_in_directory

PAPER = {"problem": "heat-robin", "preset": "paper", "fit_iterations": 3, "t_end": 0.005}


def largest() -> None:
    """Seconds for a checkpoint of 1, 100 and 1,000 states of the paper's network."""
    problem = tb.problems.get("heat-robin")
    parameters = len(tb.mlp(problem.domain).layout()[0])
    for states in (1, 100, 1000):
        thetas = np.random.default_rng(0).random((states, parameters))
        checkpoint = Checkpoint({}, {"march": Snapshot({"theta": thetas[0], "thetas": thetas})})
        with tempfile.TemporaryDirectory() as place:
            kept, seconds = Checkpoints(Path(place)), []
            for _ in range(3):
                began = time.perf_counter()
                kept.write(checkpoint)
                seconds.append(time.perf_counter() - began)
        share = min(seconds) / max(INTERVAL, 100 * min(seconds))
        print(f"{states:5} states: {min(seconds):.4f} s, {share:.2%} of the time between two")


def shares() -> None:
    """The part of a march that goes into offering its states, written or not."""
    spent, offer = 0.0, CheckpointJournal.offer

    def timed(*arguments):
        nonlocal spent
        began = time.perf_counter()
        offer(*arguments)
        spent += time.perf_counter() - began

    CheckpointJournal.offer = timed
    chosen = config(PAPER)
    with tempfile.TemporaryDirectory() as place:
        directory = RunDirectory.create(Path(place) / "run", chosen)
        problem = tb.problems.get("heat-robin")
        ended = run_in_directory(problem, chosen, directory, None, lambda *_: None, 0.0)
        directory.close()
    total = ended.solution.seconds["march"]
    print(f"march of {len(ended.solution.history)} steps: {spent / total:.3%} of {total:.1f} s")


def main() -> None:
    """All of it."""
    largest()
    shares()


if __name__ == "__main__":
    main()
