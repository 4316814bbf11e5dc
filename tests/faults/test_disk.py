"""P4: a full, failing or read-only disk never destroys a good checkpoint."""

import errno
import os

import numpy as np
import pytest

from tengbc.errors import OutputError
from tengbc.journal import Snapshot
from tengbc.outcome import Outcome
from tengbc.runs.checkpoints import Checkpoint, Checkpoints, read
from tengbc.solver import solve
from tengbc.storage import atomic
from tests.faults.cases import DEFAULT, FROZEN, PAPER, PROBLEMS, chosen, fingerprint

ERRORS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EDQUOT, errno.EROFS]


def checkpoint(number):
    rng = np.random.default_rng(number)
    return Checkpoint({"options": "x"}, {"march": Snapshot({"theta": rng.random(500)})})


class Failing:
    """An open file whose writes fail after half of the data."""

    def __init__(self, file, error):
        self.file, self.error = file, error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[: len(data) // 2])
        self.file.flush()
        raise self.error


def spoil(monkeypatch, where, number):
    error = OSError(number, os.strerror(number))

    def fail(*_, **__):
        raise error

    if where == "open":
        monkeypatch.setattr(atomic, "open", fail, raising=False)
    elif where == "write":
        opener = lambda *a: Failing(open(*a), error)  # noqa: SIM115
        monkeypatch.setattr(atomic, "open", opener, raising=False)
    else:
        monkeypatch.setattr(os, where, fail)


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize("where", ["open", "write", "fsync", "replace"])
def test_the_checkpoints_before_stay(tmp_path, monkeypatch, where, number):
    kept = Checkpoints(tmp_path)
    for k in range(4):
        kept.write(checkpoint(k))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 3
    spoil(monkeypatch, where, number)
    with pytest.raises(OutputError) as error:
        kept.write(checkpoint(5))
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    message = str(error.value)
    assert os.strerror(number) in message and "\n" not in message and message.endswith(".")
    assert error.value.out_of_space == (number in (errno.ENOSPC, errno.EDQUOT))
    newest, wrong = kept.newest()
    assert not wrong and newest is not None
    np.testing.assert_array_equal(
        newest.stages["march"].arrays["theta"], checkpoint(3).stages["march"].arrays["theta"]
    )
    path = kept.write(checkpoint(6))
    assert read(path).about == {"options": "x"}


@pytest.mark.parametrize(
    ("number", "outcome"),
    [(errno.ENOSPC, Outcome.OUT_OF_SPACE), (errno.EIO, Outcome.NOT_WRITTEN)],
)
@pytest.mark.parametrize("where", ["march", "default", "initial fit"])
def test_a_run_ends_in_a_named_way_and_goes_on_later(
    tmp_path, monkeypatch, workshop, number, outcome, where
):
    kind = {"march": FROZEN, "default": DEFAULT, "initial fit": PAPER}[where]
    expected = fingerprint(workshop(tmp_path / "undisturbed", chosen(kind)).solution)
    replace, calls = os.replace, 0

    def full(*arguments):
        nonlocal calls
        calls += 1
        if calls > 5:
            raise OSError(number, os.strerror(number))
        replace(*arguments)

    monkeypatch.setattr(os, "replace", full)
    ended = workshop(tmp_path / "run", chosen(kind))
    monkeypatch.undo()
    assert ended.solution.result.outcome is outcome and ended.content is None
    assert os.strerror(number) in ended.solution.result.message
    error = ended.solution.result.error()
    assert isinstance(error, OutputError) and error.exit_code == 5
    # The states so far are there: those of the march, or what the fit had come to.
    assert (len(ended.solution.times) > 1) == (where != "initial fit")
    assert np.isfinite(ended.solution([0.5], 0.0)) and ended.solution([0.5], 0.0) != 0
    assert fingerprint(workshop(tmp_path / "run", chosen(kind)).solution) == expected


class Full:
    """A journal on a disk with room for a few snapshots; a stage of it as well."""

    name, stopping, seconds_before, interval = "march", False, 0.0, 0.0

    def __init__(self, room):
        self.room, self.last = room, None

    def stage(self, name, over):
        return self

    def recall(self):
        return self.last

    def note(self, record):
        pass

    def offer(self, snapshot):
        if self.room == 0:
            raise OutputError("The disk is full; make room.", out_of_space=True)
        self.room, self.last = self.room - 1, snapshot()

    def finish(self, snapshot):
        self.last = None


@pytest.mark.parametrize(
    ("problem", "choices", "room"),
    [
        ("heat", FROZEN, 3),
        ("heat", DEFAULT, 3),
        ("heat", PAPER, 3),
        ("heat", PAPER, 0),
        ("steepening", {"t_end": 0.02}, 3),
    ],
    ids=["fast", "default", "paper, initial fit", "paper, first iteration", "deformed"],
)
def test_the_error_carries_the_last_good_state(problem, choices, room):
    with pytest.raises(OutputError, match="The disk is full") as error:
        solve(PROBLEMS(problem), journal=Full(room), **choices)
    kept = error.value.solution
    assert kept.result.outcome is Outcome.OUT_OF_SPACE
    assert np.isfinite(kept([0.5], kept.times[-1])) and len(kept.times) == len(kept.thetas)
    assert (kept.times[-1] > 0) == (choices is not PAPER)


def test_a_directory_without_permission(tmp_path, monkeypatch, workshop):
    """Root may write anywhere, so the refusal is injected."""
    from pathlib import Path

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(OutputError, match=r"cannot be written \(Permission denied\)"):
        workshop(tmp_path / "run", chosen(FROZEN))
