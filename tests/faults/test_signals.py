"""P3: a first signal finishes the step and writes a checkpoint; a second ends the run at once."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from tengbc.outcome import Outcome
from tengbc.runs import session
from tengbc.runs.checkpoints import Checkpoints
from tests.faults.cases import DEFAULT, FILE, FROZEN, PAPER, chosen, fingerprint
from tests.faults.processes import environment, options

NUMBERS = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def deaf():
    """Signals outside a session, where they are not ours, are ignored."""
    before = {number: signal.signal(number, lambda *_: None) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("kind", [PAPER, FROZEN, DEFAULT], ids=["paper", "fast", "default"])
def test_fifteen_signals_each(tmp_path, workshop, deaf, kind):
    """Each at a random time of its session; checkpoints are made for the signals alone."""
    began = time.monotonic()
    expected = fingerprint(workshop(tmp_path / "undisturbed", chosen(kind)).solution)
    rng, stopped, rounds, ended = random.Random(0), 0, 0, None
    usual = time.monotonic() - began
    path = tmp_path / "run0"
    while stopped < 15 or ended is None or ended.content is None:
        number, rounds = rng.choice(NUMBERS), rounds + 1
        wait = rng.uniform(0, usual) if stopped < 15 else 1e6
        timer = threading.Timer(wait, os.kill, (os.getpid(), number))
        timer.start()
        began = time.monotonic()
        ended = workshop(path, chosen(kind, every=1e9))
        timer.cancel()
        timer.join()
        assert rounds < 200, "signals keep the run from getting on"
        if ended.content is None:
            assert ended.solution.result.outcome is Outcome.INTERRUPTED
            assert ended.signal == number
            assert Checkpoints(path / "checkpoints").paths()
            stopped += 1
        else:
            assert fingerprint(ended.solution) == expected
            usual = min(usual, time.monotonic() - began)
            path = tmp_path / f"run{rounds}"


@pytest.mark.parametrize("number", NUMBERS)
def test_a_signal_while_the_results_are_written_does_not_cost_them(
    tmp_path, workshop, monkeypatch, deaf, number
):
    write, heard = session.write_results, []

    def signalled(*arguments):
        os.kill(os.getpid(), number)
        heard.append(signal.getsignal(number))
        return write(*arguments)

    monkeypatch.setattr(session, "write_results", signalled)
    ended = workshop(tmp_path / "run", chosen(DEFAULT))
    assert heard == [signal.SIG_DFL]  # a second one would end it at once
    assert ended.content is not None and ended.content["outcome"] == "done"
    assert (tmp_path / "run" / "summary.json").exists() and ended.signal is None


@pytest.mark.long
@pytest.mark.parametrize("kind", [PAPER, FROZEN], ids=["paper", "fast"])
def test_thirty_signals_to_processes(tmp_path, kind, capsys):
    """At any time of a process's life, also while it imports and compiles."""
    run = [sys.executable, "-m", "tengbc", "run", f"{FILE}:heat", *options(kind | {"dt": 1e-4})]
    undisturbed, path = tmp_path / "undisturbed", tmp_path / "run0"
    began = time.monotonic()
    subprocess.run([*run, "--out", undisturbed, "--quiet"], env=environment(), check=True)
    rng, longest = random.Random(0), time.monotonic() - began
    for count in range(30):
        fresh = not (path / "options.toml").exists()
        line = [*run, "--out", path] if fresh else [sys.executable, "-m", "tengbc", "resume", path]
        child = subprocess.Popen(
            [*line, "--quiet"], env=environment(), stderr=subprocess.PIPE, text=True
        )
        number = rng.choice(NUMBERS)
        time.sleep(rng.uniform(0, longest))
        child.send_signal(number)
        _, err = child.communicate(timeout=120)
        with capsys.disabled():
            print(f"\r{count + 1} signals, the last ended with {child.returncode}", end="")
        begun = (path / "log.txt").exists()
        assert child.returncode in (0, 128 + number) or (
            child.returncode == -number and "checkpoint" not in err
        ), err
        assert "Traceback" not in err and err.count("\n") <= 1, err
        if child.returncode == 0:
            same = [(each / "history.csv").read_bytes() for each in (undisturbed, path)]
            assert same[0] == same[1]
            path = tmp_path / f"run{count + 1}"
        elif child.returncode == 128 + number and "resume" in err:
            assert begun and Checkpoints(path / "checkpoints").paths()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_exit_codes(tmp_path, number, code):
    out = tmp_path / "run"
    line = [sys.executable, "-m", "tengbc", "run", f"{FILE}:heat", *options(PAPER | LONG)]
    child = subprocess.Popen(
        [*line, "--out", str(out)], env=environment(), stderr=subprocess.PIPE, text=True
    )
    wait_for(out / "history.csv", 3)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == code
    assert err.startswith("tengbc: interrupted: stopped on request at t = ")
    assert err.strip().endswith(f"go on with `tengbc resume {out}`.") and err.count("\n") == 1
    assert len(Checkpoints(out / "checkpoints").paths()) == 1
    assert not (out / "summary.json").exists()


def test_a_second_signal_ends_it_at_once(tmp_path):
    line = [sys.executable, "-m", "tengbc", "run", f"{FILE}:slow", *options(PAPER | LONG)]
    for attempt in range(5):  # a busy machine may take longer to get into the middle of something
        out = tmp_path / f"run{attempt}"
        child = subprocess.Popen(
            [*line, "--out", str(out)], env=environment(), stderr=subprocess.PIPE
        )
        wait_for(out / "log.txt", 1)
        time.sleep(1.0 + 2 * attempt)
        child.send_signal(signal.SIGTERM)
        time.sleep(1.0)
        if child.poll() is None:
            break
        child.communicate()
    child.send_signal(signal.SIGTERM)
    began = time.monotonic()
    child.communicate(timeout=60)
    assert time.monotonic() - began < 2 and child.returncode == -signal.SIGTERM


LONG = {"t_end": 10.0}


def wait_for(path, lines):
    for _ in range(1200):
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} never came to {lines} lines")
