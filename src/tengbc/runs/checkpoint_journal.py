"""The journal of a run directory: checkpoints by time and at signals, history line by line."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from tengbc.history import Record
from tengbc.journal import LOOK, Snapshot, Stage, never
from tengbc.runs.checkpoints import Checkpoint, Checkpoints
from tengbc.storage.history_file import HistoryFile

INTERVAL = 30.0
"""Seconds between two checkpoints."""
SHARE = 0.01
"""The largest part of a run's time that checkpoints may take."""


class CheckpointJournal:
    """Writes down the stages of a run, and recalls those of the sessions before.

    **Arguments:** `about`: what goes into every checkpoint, such as the options' hash; `before`:
    the checkpoint to go on from; `interval`: seconds, 0 for every step; `stopping`: whether the run
    is asked to end; `log`: takes a sentence.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        history: HistoryFile,
        about: Mapping[str, Any],
        before: Checkpoint | None = None,
        interval: float = INTERVAL,
        stopping: Callable[[], bool] = never,
        log: Callable[[str], None] = lambda text: None,
    ):
        self.checkpoints, self.history, self.about = checkpoints, history, about
        self.interval, self.is_stopping, self.log = interval, stopping, log
        before = before or Checkpoint({}, {})
        self.snapshots = dict(before.stages)
        self.spent_before: dict[str, float] = dict(before.about.get("stage_seconds", {}))
        self.seconds_before = float(before.about.get("seconds", 0.0))
        self._spent: dict[str, float] = dict(self.spent_before)
        self._began = self._last = self._mark = time.monotonic()
        self._cost, self._stopped = 0.0, False

    def stage(self, name: str, over: Callable[[], bool] = never) -> Stage:
        """The stage of that name, which is also asked to end once `over` says so."""
        return _CheckpointStage(self, name, over)

    def offer(self, name: str, snapshot: Callable[[], Snapshot], stopping: bool) -> None:
        """Write a checkpoint if it is time, and always one when the run is asked to end."""
        now = time.monotonic()
        self._spent[name] = self._spent.get(name, 0.0) + now - self._mark
        self._mark = now
        stop = stopping and not self._stopped
        wait = max(self.interval, self._cost / SHARE) if self.interval else 0.0
        if stop or now - self._last >= wait:
            self.snapshots[name] = snapshot()
            self._stopped = self._stopped or stop
            self.write()

    def close(self) -> None:
        """A session ends before its run: a request that came between two offers is written too."""
        if not self._stopped:
            self._stopped = True
            self.write()

    def write(self) -> None:
        """Everything known, now: first the history, so that it is never behind a checkpoint."""
        began = time.monotonic()
        self.history.flush()
        seconds = self.seconds_before + began - self._began
        about = {**self.about, "seconds": seconds, "stage_seconds": self._spent}
        path = self.checkpoints.write(Checkpoint(about, self.snapshots))
        self._last = time.monotonic()
        self._cost = self._last - began
        self.log(f"checkpoint {path.name} in {self._cost:.3f} s")


class _CheckpointStage:
    def __init__(self, journal: CheckpointJournal, name: str, over: Callable[[], bool]):
        self.journal, self.name, self.over = journal, name, over

    @property
    def stopping(self) -> bool:
        return self.journal.is_stopping() or self.over()

    @property
    def seconds_before(self) -> float:
        return self.journal.spent_before.get(self.name, 0.0)

    @property
    def interval(self) -> float:
        return min(LOOK, self.journal.interval)

    def recall(self) -> Snapshot | None:
        return self.journal.snapshots.get(self.name)

    def note(self, record: Record) -> None:
        self.journal.history.append(self.name, record)

    def offer(self, snapshot: Callable[[], Snapshot]) -> None:
        self.journal.offer(self.name, snapshot, self.stopping)

    def finish(self, snapshot: Snapshot) -> None:
        # Kept in memory: the next checkpoint takes it along.
        self.journal.snapshots[self.name] = snapshot
