"""The files of a run: strict, complete, written whole or not at all."""

import csv
import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tengbc.errors import OutputError
from tengbc.runs import output
from tengbc.solver import Record


def test_the_directory_is_made(tmp_path):
    output.prepare(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    output.prepare(tmp_path / "a" / "b")


def test_a_finished_run_is_not_overwritten(tmp_path):
    output.write_summary(tmp_path, {"outcome": "done"})
    with pytest.raises(OutputError, match="already holds a finished run; choose another --out"):
        output.prepare(tmp_path)
    assert json.loads((tmp_path / "summary.json").read_text()) == {"outcome": "done"}


def test_where_no_directory_can_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match="cannot be written") as error:
            output.prepare(place)
        assert isinstance(error.value, OSError) and error.value.exit_code == 5
    with pytest.raises(OutputError, match="Not a directory"):
        output.write_whole(tmp_path / "file" / "below", "text")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("failing", ["write", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "summary.json"
    output.write_whole(path, "old")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if failing == "write":
        monkeypatch.setattr(Path, "write_text", full)
    else:
        monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        output.write_whole(path, "new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_history_has_a_line_per_step(tmp_path):
    records = [
        Record(1, 0.1, 1e-3, 12, 5e4, {"outer": 1e-5, "inner": 2e-5}),
        Record(2, 0.2, 2e-3, 11, np.inf, {"outer": 3e-5, "inner": 4e-5}, estimate=1e-7),
    ]
    with output.write_history(tmp_path, records).open(newline="") as file:
        first, second = csv.DictReader(file)
    assert first == {
        "step": "1",
        "time": "0.1",
        "fit_residual": "1.000000e-03",
        "rank": "12",
        "condition": "5.000e+04",
        "error_estimate": "",
        "boundary_inner": "2.000000e-05",
        "boundary_outer": "1.000000e-05",
    }
    assert float(second["error_estimate"]) == 1e-7 and float(second["boundary_outer"]) == 3e-5


def test_an_empty_history_is_a_header(tmp_path):
    text = output.write_history(tmp_path, []).read_text()
    assert text.strip() == "step,time,fit_residual,rank,condition,error_estimate"


def test_a_summary_is_strict_json(tmp_path):
    path = output.write_summary(tmp_path, {"a": [[0.0, 1e-3]], "b": None, "c": "λ"})
    assert json.loads(path.read_text("utf-8")) == {"a": [[0.0, 1e-3]], "b": None, "c": "λ"}
    with pytest.raises(ValueError, match="JSON compliant"):
        output.write_summary(tmp_path, {"a": float("nan")})
