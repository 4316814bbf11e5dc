"""When checkpoints are written, and that they cost no more than a hundredth of a run."""

from types import SimpleNamespace

import numpy as np
import pytest

from tengbc.journal import Snapshot
from tengbc.runs import checkpoint_journal
from tengbc.runs.checkpoint_journal import CheckpointJournal
from tengbc.runs.checkpoints import Checkpoints
from tengbc.storage.history_file import HistoryFile


class Clock:
    """Time that passes only when told to."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(checkpoint_journal, "time", SimpleNamespace(monotonic=lambda: self.now))


class SlowDisk(Checkpoints):
    """Each write takes so many seconds of the clock."""

    def __init__(self, directory, clock, cost):
        super().__init__(directory)
        directory.mkdir()
        self.clock, self.cost, self.written = clock, cost, []

    def write(self, checkpoint):
        self.clock.now += self.cost
        self.written.append(self.clock.now)
        return self.directory / "000001.safetensors"


@pytest.mark.parametrize(
    ("cost", "step", "apart"), [(0.01, 0.5, 30.0), (0.25, 0.5, 30.0), (3.0, 1.0, 300.0)]
)
def test_every_half_minute_and_at_most_a_hundredth_of_the_time(
    tmp_path, monkeypatch, cost, step, apart
):
    clock = Clock(monkeypatch)
    disk = SlowDisk(tmp_path / "checkpoints", clock, cost)
    kept = CheckpointJournal(disk, HistoryFile(tmp_path / "history.csv"), {})
    stage, began = kept.stage("march"), clock.now
    while clock.now - began < 7200:
        clock.now += step
        stage.offer(Snapshot)
    spent = cost * len(disk.written)
    assert spent <= 0.01 * (clock.now - began)
    gaps = np.diff(disk.written)
    assert disk.written[0] - began == pytest.approx(30.0 + cost, abs=step)
    assert np.all(gaps >= apart) and np.all(gaps <= apart + cost + step)


def test_a_request_to_end_is_written_at_once_and_once(tmp_path, monkeypatch):
    clock, asked = Clock(monkeypatch), []
    disk = SlowDisk(tmp_path / "checkpoints", clock, 0.1)
    history = HistoryFile(tmp_path / "history.csv")
    kept = CheckpointJournal(disk, history, {}, stopping=lambda: bool(asked))
    stage = kept.stage("march")
    stage.offer(Snapshot)
    assert disk.written == []
    asked.append(True)
    for _ in range(3):
        stage.offer(Snapshot)
    kept.close()
    assert len(disk.written) == 1


def test_a_stage_whose_time_is_over_is_written_too(tmp_path, monkeypatch):
    clock, over = Clock(monkeypatch), []
    disk = SlowDisk(tmp_path / "checkpoints", clock, 0.1)
    kept = CheckpointJournal(disk, HistoryFile(tmp_path / "history.csv"), {})
    stage = kept.stage("march", lambda: bool(over))
    stage.offer(Snapshot)
    assert not stage.stopping and disk.written == []
    over.append(True)
    stage.offer(Snapshot)
    assert stage.stopping and len(disk.written) == 1
    assert not kept.stage("march").stopping
    kept.close()
    assert len(disk.written) == 1


def test_what_was_finished_between_two_offers_is_written_when_a_session_ends(tmp_path, monkeypatch):
    disk = SlowDisk(tmp_path / "checkpoints", Clock(monkeypatch), 0.1)
    kept = CheckpointJournal(disk, HistoryFile(tmp_path / "history.csv"), {})
    kept.stage("answer 1").finish(Snapshot(finished=True))
    kept.close()
    assert len(disk.written) == 1
