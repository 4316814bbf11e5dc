"""P3: a first signal finishes the step and writes a checkpoint; a second ends the run at once."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tengbc.runs.checkpoints import Checkpoints
from tengbc.runs.keeper import Keeper
from tengbc.solver import Outcome
from tests.faults.cases import FAST, FILE, PAPER, chosen, fingerprint
from tests.faults.processes import environment, options

NUMBERS = [signal.SIGINT, signal.SIGTERM]


@pytest.mark.parametrize("kind", [PAPER, FAST], ids=["paper", "fast"])
def test_fifteen_signals_each(tmp_path, workshop, monkeypatch, kind):
    """At a random step of every session; checkpoints are made for the signals alone."""
    expected = fingerprint(workshop(tmp_path / "undisturbed", chosen(kind)).solution)
    rng, offer = random.Random(0), Keeper.offer
    stopped = rounds = 0
    while rounds < 15 and stopped < 15:
        path, rounds = tmp_path / f"run{rounds}", rounds + 1
        while True:
            step, number, calls = rng.randrange(1, 6), rng.choice(NUMBERS), 0

            def signalled(self, name, snapshot):
                nonlocal calls
                calls += 1
                if calls == step:  # noqa: B023
                    os.kill(os.getpid(), number)  # noqa: B023
                offer(self, name, snapshot)

            monkeypatch.setattr(Keeper, "offer", signalled)
            ended = workshop(path, chosen(kind, every=1e9))
            if ended.content is not None:
                break
            assert ended.solution.result.outcome is Outcome.INTERRUPTED
            assert ended.signal == number
            assert Checkpoints(path / "checkpoints").paths()
            stopped += 1
            assert stopped < 60, "signals keep the run from getting on"
        assert fingerprint(ended.solution) == expected


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
    out = tmp_path / "run"
    line = [sys.executable, "-m", "tengbc", "run", f"{FILE}:slow", *options(PAPER | LONG)]
    child = subprocess.Popen([*line, "--out", str(out)], env=environment(), stderr=subprocess.PIPE)
    wait_for(out / "log.txt", 1)
    time.sleep(1.0)
    child.send_signal(signal.SIGTERM)
    time.sleep(1.0)
    assert child.poll() is None  # it is in the middle of something long
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
