"""A sweep does each run once, whatever happens to it, and its table says what came out."""

import csv
import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tengbc as tb
from tengbc.runs.directory import Lock
from tengbc.sweeps.rows import read_row, whole, write_row
from tests.sweeps.cases import CHEAP, FILE, finish, sessions, start, write_study

KAPPAS = [0.5, 1.0, 2.0]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A grid of six runs by `tb.sweep`."""
    out = tmp_path_factory.mktemp("grid") / "out"
    grid = {"kappa": KAPPAS, "size": np.array([1.0, 3.0])}
    asked = {"quantities": ["integral", "flux:right", "value:0.5"], "times": [0.01, 0.02, 0.03]}
    return tb.sweep(f"{FILE}:rod", out=out, grid=grid, **asked, **CHEAP)


def test_quantities_are_those_of_the_formula(swept):
    """∫u = size·2/π·e^(−λt) and ∮κ∂ₙu = −κ·size·π/2·e^(−λt) at the right, λ = κπ²/4."""
    data = swept.to_xarray()
    assert data.integral.dims == ("kappa", "size", "time") and data.error.dims == ("kappa", "size")
    known = data.sel(time=[0.01, 0.02])
    decay = np.exp(-known.kappa * (np.pi / 2) ** 2 * known.time) * known["size"]
    expected = {
        "integral": 2 / np.pi * decay,
        "flux:right": -known.kappa * np.pi / 2 * decay,
        "value:0.5": np.cos(np.pi / 4) * decay,
    }
    for name, values in expected.items():
        assert abs(known[name] / values - 1).max() < 1e-3, name
    assert np.isnan(data.sel(time=0.03).integral).all()  # the runs end before
    assert (data.error < 1e-3).all() and (data.seconds > 0).all() and (data.outcome == "done").all()


def test_each_run_is_an_ordinary_run_directory(swept):
    for row, run in zip(swept.rows, swept.study.runs, strict=True):
        place = swept.directory(row["run"])
        summary = json.loads((place / "summary.json").read_text())
        assert summary["outcome"] == "done" and (place / "report.html").stat().st_size > 1e4
        assert (
            f"rod(kappa={row['kappa']}, size={row['size']})" in (place / "options.toml").read_text()
        )
        assert sessions(place) == (1, 1) and run.config.options.t_end == CHEAP["t_end"]
    assert swept.solution(1)([0.5], 0.0) == pytest.approx(np.cos(np.pi / 4), rel=1e-3)
    with pytest.raises(tb.UsageError, match="There is no run 7"):
        swept.solution(7)


def test_the_table_is_a_file_too(swept):
    rows = list(csv.DictReader((swept.path / "sweep.csv").read_text().splitlines()))
    assert [float(row["kappa"]) for row in rows] == [0.5, 0.5, 1, 1, 2, 2]
    assert float(rows[5]["integral@0.02"]) == swept.rows[5]["integral@0.02"]
    assert rows[0]["integral@0.03"] == "" and rows[0]["outcome"] == "done"
    again = tb.load_sweep(swept.path)
    assert again.rows == swept.rows and again.to_xarray().equals(swept.to_xarray())
    assert repr(again) == f"<Sweep over kappa, size: 6 of 6 runs solved, in {swept.path}>"


def test_other_quantities_need_no_new_runs(swept):
    """They are taken from the solutions; the study is the same as long as its runs are."""
    grid = {"kappa": KAPPAS, "size": [1.0, 3.0]}
    again = tb.sweep(f"{FILE}:rod", out=swept.path, grid=grid, quantities=["flux"], **CHEAP)
    assert [sessions(again.directory(k + 1)) for k in range(6)] == [(1, 1)] * 6
    flux = again.to_xarray()["flux"]
    assert flux.dims == ("kappa", "size") and (flux < 0).all()
    with pytest.raises(tb.OutputError, match="belongs to another study"):
        tb.sweep(f"{FILE}:rod", out=swept.path, grid=grid | {"seed": [0, 1]}, **CHEAP)


def test_a_run_that_was_resumed_has_a_new_row(tmp_path):
    """One out of time is left as it is, until `tengbc resume` has gone on with it."""
    write_row(tmp_path, {"outcome": "out of time", "message": "over"}, {})
    (tmp_path / "summary.json").write_text('{"outcome": "out of time"}')
    row = read_row(tmp_path)
    assert row is not None and row["message"] == "over" and whole(row, ["integral"], None) is False
    assert whole(row, [], None)
    (tmp_path / "summary.json").write_text('{"outcome": "done"}')
    assert read_row(tmp_path) is None
    (tmp_path / "row.json").write_text("[1]")
    assert read_row(tmp_path) is None and not whole(None, [], None)


def test_failed_runs_are_listed_and_stop_nobody(tmp_path, monkeypatch):
    """Every way to fail, a killed process among them, between runs that are solved."""
    monkeypatch.chdir(tmp_path)
    asked = {"out": tmp_path / "out", "grid": {"kind": [1, 0, 2, 3, 4, 5]}, **CHEAP}
    result = tb.sweep(f"{FILE}:trouble", **asked)
    outcomes = [row["outcome"] for row in result.rows]
    assert outcomes == ["refused", "done", "non-finite", "refused", "not finished", "done"]
    said = {row["run"]: row["message"] for row in result.failed}
    assert said[1] == "a kind of 1 cannot be; take another."
    assert "rods.py fails in line 34 (IndexError: index 2 is out of bounds" in said[4]
    logs = [run.path / "log.txt" for run in result.study.runs]
    before = [log.read_text() if log.exists() else "" for log in logs]
    result = tb.sweep(f"{FILE}:trouble", **asked)  # the killed run is done, the others are left
    outcomes = [row["outcome"] for row in result.rows]
    assert outcomes == ["refused", "done", "non-finite", "refused", "done", "done"]
    after = [log.read_text() if log.exists() else "" for log in logs]
    assert [k for k in range(6) if before[k] != after[k]] == [4]


def alive(process):
    """Whether a process is there and not merely waiting to be buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill(child, workers):
    """SIGKILL to the sweep, and to its workers too or else they end by themselves."""
    text = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text()
    children = [int(number) for number in text.split()]
    for number in (*(children if workers else ()), child.pid):
        os.kill(number, signal.SIGKILL)
    child.communicate()
    while any(map(alive, children)):
        time.sleep(0.01)


def test_a_hundred_runs_killed_twice(tmp_path):
    """Every one is there in the end; only a run in hand at a kill was ever begun again."""
    text = f"[grid]\nseed = {list(range(10))}\nkappa = [0.1, 0.2, 0.5, 1, 2]\nsize = [1, 2]"
    study, out = write_study(tmp_path / "study.toml", tmp_path / "out", text), tmp_path / "out"
    in_hand, finished = Counter(), {}
    for share, workers in ((20, True), (55, False)):
        child = start(study)
        while len(list(out.glob("runs/*/row.json"))) < share:
            assert child.poll() is None
            time.sleep(0.01)
        kill(child, workers)
        for log in out.glob("runs/*/log.txt"):
            if (summary := log.with_name("summary.json")).exists():
                finished.setdefault(log, (log.read_bytes(), summary.stat().st_mtime_ns))
            else:
                in_hand[log] += 1
    finish(start(study))
    rows = list(csv.DictReader((out / "sweep.csv").read_text().splitlines()))
    assert len(rows) == 100 and all(row["outcome"] == "done" for row in rows)
    assert len({(row["seed"], row["kappa"], row["size"]) for row in rows}) == 100
    logs = [run.path / "log.txt" for run in tb.load_sweep(out).study.runs]
    assert [log for log in logs if sessions(log.parent)[0] > 1 + in_hand[log]] == []
    assert len(finished) >= 55
    for log, (text, when) in finished.items():
        assert log.read_bytes() == text
        assert log.with_name("summary.json").stat().st_mtime_ns == when


def test_signals_end_it_in_order_and_the_same_command_goes_on(tmp_path):
    text = f"[grid]\nkappa = {[0.1 * k for k in range(1, 25)]}"
    study = write_study(tmp_path / "study.toml", tmp_path / "out", text, "slow")
    for count, number in enumerate((signal.SIGINT, signal.SIGTERM), start=1):
        child = start(study)
        while len(list(tmp_path.glob("out/runs/*/row.json"))) < 5 * count:
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(number)
        _, err = finish(child, 128 + number)
        assert err == "tengbc: interrupted; the same command does what is missing.\n"
        result = tb.load_sweep(tmp_path / "out")
        assert 5 * count <= sum(row["outcome"] == "done" for row in result.rows) < 24
        assert (tmp_path / "out/sweep.html").exists()
    out, _ = finish(start(study))
    result = tb.load_sweep(tmp_path / "out")
    assert not result.failed and "24 of 24" in out
    assert [sessions(run.path)[1] for run in result.study.runs] == [1] * 24
    assert (result.directory(1) / "output.txt").read_text() == "made with 0.1\n"


def test_two_sweeps_at_once_share_the_runs(tmp_path):
    """Both end with the whole table; a run that somebody else holds is waited for."""
    text = f"[grid]\nkappa = {[0.1 * k for k in range(1, 13)]}"
    study = write_study(tmp_path / "study.toml", tmp_path / "out", text, "slow")
    both = [start(study), start(study)]
    while not (tmp_path / "out/study.json").exists():
        time.sleep(0.01)
    (tmp_path / "out/runs/12").mkdir(parents=True, exist_ok=True)
    lock = Lock(tmp_path / "out/runs/12")
    while len(list(tmp_path.glob("out/runs/*/row.json"))) < 11:
        assert all(child.poll() is None for child in both)
        time.sleep(0.01)
    time.sleep(1.0)
    assert all(child.poll() is None for child in both)
    lock.release()
    for child in both:
        finish(child)
    result = tb.load_sweep(tmp_path / "out")
    assert not result.failed
    assert [sessions(result.directory(k + 1)) for k in range(12)] == [(1, 1)] * 12


def test_a_list_and_a_system_have_dimensions_of_their_own(tmp_path):
    entries = [{"kappa": 0.5, "rtol": 1e-3}, {"kappa": 2.0, "rtol": 1e-4}]
    asked = {"quantities": ["integral"], "t_end": 0.02}
    result = tb.sweep(f"{FILE}:two", out=tmp_path / "out", list=entries, **asked)
    data = result.to_xarray()
    assert data.integral.dims == ("entry", "component") and data.kappa.dims == ("entry",)
    decay = np.exp(-np.array([0.5, 2.0]) * (np.pi / 2) ** 2 * 0.02)
    expected = 2 / np.pi * decay[:, None] * np.array([1.0, 2.0])
    assert np.allclose(data.integral, expected, rtol=1e-3)
    assert result.rows[1]["integral[1]@end"] == pytest.approx(expected[1, 1], rel=1e-3)


def test_slurm_by_its_local_executor(tmp_path):
    pytest.importorskip("submitit")
    text = "[random]\ndraws = 3\nkappa = {from = 0.1, to = 1, log = true}\n[slurm]\n"
    study = write_study(tmp_path / "study.toml", tmp_path / "out", text + 'cluster = "local"')
    finish(start(study, "--slurm", "--jobs", 2))
    result = tb.load_sweep(tmp_path / "out")
    assert not result.failed and len(result) == 3
    assert [sessions(run.path) for run in result.study.runs] == [(1, 1)] * 3
    assert result.to_xarray().kappa.dims == ("draw",)
    jobs = set((tmp_path / "out/slurm").glob("*_submitted.pkl"))
    assert len(jobs) == 2
    tb.sweep(study, slurm=True)  # nothing is left to be submitted
    assert set((tmp_path / "out/slurm").glob("*_submitted.pkl")) == jobs


def test_without_submitit_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(tb.UsageError, match=r"pip install 'tengbc\[slurm\]'"):
        tb.sweep(f"{FILE}:rod", out=tmp_path / "out", grid={"seed": [0]}, slurm=True, **CHEAP)
    assert not (tmp_path / "out").exists()
