"""The benchmark of user's seconds: its pieces at tiny sizes."""

import json
import subprocess

import pytest

from benchmarks import seconds, seconds_child


def said(capsys):
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_line_marks_a_figure_above_its_bar():
    assert seconds.row("a", 0.3, 0.2, 0.1, "note").split() == [
        "a",
        "0.3",
        "!",
        "0.2",
        "0.1",
        "note",
    ]
    assert "!" not in seconds.row("a", 0.2, 0.2, 0.1, "")
    assert seconds.row("a", None, 2.0, 1.0, "").split() == ["a", "-", "2.0", "1.0"]


def test_the_middle_run_is_taken():
    runs = [{"seconds": s} for s in (3.0, 1.0, 2.0)]
    assert seconds.median(runs) == {"seconds": 2.0}


def test_the_second_solve_says_its_true_error(capsys):
    seconds_child.second("heat-robin", "1e-3")
    found = said(capsys)
    assert 0 < found["error"] <= 1e-3 and found["seconds"] > 0 and found["stated"] <= 1e-3


def test_a_loop_compiles_nothing_after_the_first(capsys):
    seconds_child.loop("2")
    assert said(capsys)["compiled"] == 0


def test_a_rival_is_as_accurate_as_asked_or_says_its_best(capsys, monkeypatch):
    pytest.importorskip("ngsolve")
    monkeypatch.setattr(seconds_child, "SIZES", (0.6,))
    monkeypatch.setattr(seconds_child, "ORDERS", (4,))
    seconds_child.rival("heat-robin", "1e-2")
    found = said(capsys)
    assert found["error"] <= 1e-2 and found["seconds"] > 0
    seconds_child.rival("heat-robin", "1e-14")
    found = said(capsys)
    assert found["seconds"] is None and 1e-14 < found["error"] < 1e-2


def test_rungs_go_from_cheap_to_dear():
    rungs = sorted(seconds_child.ladder(), key=seconds_child._cost)
    assert rungs[0] == (1.0, 4, (0.1, 2)) and rungs[-1] == (0.3, 12, (0.05, 5))


def test_busy_loops_end(monkeypatch):
    started, begin = [], subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *given: started.append(begin(*given)) or started[-1]
    )
    with seconds.busy_loops(2):
        assert [loop.poll() for loop in started] == [None, None]
    assert all(loop.poll() is not None for loop in started)
