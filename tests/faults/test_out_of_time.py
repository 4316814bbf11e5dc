"""A run that max_seconds ended: its results are there, and more time gives the same bits."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import tengbc as tb
from tengbc import timing
from tengbc.cli import main
from tengbc.outcome import Outcome
from tengbc.runs import checkpoint_journal
from tengbc.runs.directory import RunDirectory, explain, outcome_of
from tengbc.runs.session import run_in_directory
from tests.faults.cases import DEFAULT, FILE, FROZEN, PAPER, PROBLEMS, chosen, fingerprint, session
from tests.faults.processes import options


@pytest.fixture
def clock(monkeypatch):
    """Deadlines by a clock that the progress of marches and fits moves on by a second each."""
    clock = SimpleNamespace(now=0.0)
    told = SimpleNamespace(monotonic=lambda: clock.now, perf_counter=lambda: clock.now)
    monkeypatch.setattr(timing, "time", told)
    monkeypatch.setattr(timing.compile_clock, "seconds", 0.0)
    monkeypatch.setattr(checkpoint_journal, "LOOK", 0.0)
    return clock


def limited(path, clock, kind, seconds, every=1e9):
    """A session of at most so many seconds, without checkpoints by time."""
    run = chosen(kind, every=every, **({} if seconds is None else {"max_seconds": seconds}))

    def progress(*known):
        clock.now += 1.0

    if (path / "options.toml").exists():
        directory, _ = RunDirectory.open(path)
    else:
        directory = RunDirectory.create(path, run)
    try:
        before = directory.newest_checkpoint(run, lambda text: None)
        return run_in_directory(PROBLEMS("heat"), run, directory, before, progress, 0.0)
    finally:
        directory.close()


@pytest.mark.parametrize(
    ("kind", "seconds", "reached"),
    [
        (FROZEN, 4.5, "march"),
        (FROZEN, 14.5, "companion"),
        (DEFAULT, 4.5, "march"),
        pytest.param(PAPER, 4.5, "fit", marks=pytest.mark.long),
    ],
    ids=["answer", "companion", "default", "paper, initial fit"],
)
def test_it_leaves_its_results_and_goes_on(tmp_path, clock, kind, seconds, reached):
    whole = session(tmp_path / "whole", chosen(kind))
    ended = limited(tmp_path / "run", clock, kind, seconds)
    solution = ended.solution
    assert solution.result.outcome is Outcome.OUT_OF_TIME
    content = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert content["outcome"] == "out of time" and content["error_estimate_max"] is None
    assert content["t_reached"] == solution.times[-1]
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Stopped: max_seconds were over" in page
    stored = tb.load(tmp_path / "run" / "solution.safetensors")
    np.testing.assert_array_equal(stored.thetas, solution.thetas)
    if reached == "fit":
        assert solution.times.tolist() == [0.0]
    elif reached == "march":
        assert 0 < solution.times[-1] < kind["t_end"]
    else:
        assert solution.times[-1] == kind["t_end"]
    assert outcome_of(tmp_path / "run") is None and "tengbc resume" in explain(tmp_path / "run")
    # A second session has its seconds anew; the last one is given enough.
    again = limited(tmp_path / "run", clock, kind, seconds)
    assert len(again.solution.times) >= len(solution.times)
    last = limited(tmp_path / "run", clock, kind, None)
    assert last.solution.result.outcome is whole.solution.result.outcome
    assert fingerprint(last.solution) == fingerprint(whole.solution)


@pytest.fixture
def run(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tengbc", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return call


def test_on_the_command_line(run, tmp_path):
    out, line = tmp_path / "run", ["run", f"{FILE}:heat", *options(FROZEN)]
    code, shown, err = run(*line, "--max-seconds", "1e-3", "--out", out)
    assert code == 6 and "heat: out of time" in shown
    assert err == (
        "tengbc: out of time: the march came to t = 0 of 0.02; max_seconds were over: give more, "
        f"or ask for less; go on with `tengbc resume {out}`.\n"
    )
    assert "max_seconds = 0.001\n" in (out / "options.toml").read_text()
    assert run("resume", out)[0] == 6  # the same seconds anew
    code, shown, err = run("resume", out, "--max-seconds", "-1")
    assert code == 2 and "max_seconds is -1, but" in err
    code, shown, err = run("resume", out, "--max-seconds", 600, "--json")
    assert code == 0 and json.loads(shown)["outcome"] == "done" and err == ""
    code, _, err = run("resume", out)
    assert code == 0 and "is finished already (done)" in err


def test_seconds_spent_before_solving_count(monkeypatch, tmp_path):
    """`tengbc run` has begun before `solve`: what imports took is over."""
    from tengbc.runs import session as sessions

    given = {}

    def solve(problem, **choices):
        given.update(choices)
        raise tb.errors.UsageError("enough.")

    monkeypatch.setattr(sessions, "solve", solve)
    with pytest.raises(tb.errors.UsageError):
        sessions.run_plainly(PROBLEMS("heat"), chosen(FROZEN, max_seconds=5.0), print, 2.0)
    assert given["max_seconds"] == 3.0
    with pytest.raises(tb.errors.UsageError):
        sessions.run_plainly(PROBLEMS("heat"), chosen(FROZEN, max_seconds=1.0), print, 2.0)
    assert 0 < given["max_seconds"] < 1e-6


def test_how_long_a_run_may_take_is_no_part_of_what_it_is():
    assert chosen(FROZEN).hash == chosen(FROZEN, max_seconds=3.0).hash
    assert chosen(FROZEN).hash != chosen(FROZEN, seed=1).hash
