"""history.csv: appended line by line, whole lines only, no line twice."""

import csv
import errno
import os

import numpy as np
import pytest

from tengbc.errors import OutputError
from tengbc.history import Record
from tengbc.storage.history_file import HistoryFile, read_history

FIRST = Record(1, 0.1, {"fit_residual": 1e-3, "rank": 12, "boundary_outer": 1e-5})
SECOND = Record(2, 0.2, {"fit_residual": np.inf, "boundary_outer": 3e-5})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "history.csv"


def written(path, *records, march="march"):
    file = HistoryFile(path)
    for record in records:
        file.append(march, record)
    file.close()
    return path.read_bytes()


def test_a_line_per_step(path):
    written(path, FIRST, SECOND)
    with path.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "march": "march",
        "step": "1",
        "time": "0.1",
        "fit_residual": "0.001",
        "rank": "12",
        "boundary_outer": "1e-05",
    }
    assert second["rank"] == "" and float(second["boundary_outer"]) == 3e-5


def test_steps_that_are_there_are_not_repeated(path):
    once = written(path, FIRST)
    both = written(path, FIRST, SECOND)
    assert both.startswith(once) and both.count(b"\n") == 3
    written(path, FIRST, SECOND, march="witness 1")
    assert [row["step"] for row in read_history(path)] == ["1", "2", "1", "2"]
    assert len(list(read_history(path, "witness 1"))) == 2


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_cut_short_by_a_kill_is_written_again(path, cut):
    whole = written(path, FIRST, SECOND)
    path.write_bytes(whole[:-cut])
    assert written(path, FIRST, SECOND) == whole


@pytest.mark.parametrize("content", [b"", b"st", b"\xff\x00\n", b"someone,else\n1,2\n"])
def test_what_is_no_history_is_replaced(path, content):
    whole = written(path, FIRST)
    path.write_bytes(content)
    assert written(path, FIRST) == whole


def test_a_full_disk_leaves_whole_lines(path, monkeypatch):
    file = HistoryFile(path)
    file.append("march", FIRST)
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
    with pytest.raises(OutputError, match="No space left on device") as error:
        file.append("march", SECOND)
    assert error.value.out_of_space and path.read_bytes() == before

    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OutputError, match="Input/output error") as error:
        file.append("march", SECOND)
    assert not error.value.out_of_space and path.read_bytes() == before
