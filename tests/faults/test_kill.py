"""P1, P2, P16: real processes, SIGKILL at random times, and the same bits in the end."""

import hashlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tengbc as tb
from tests.faults.cases import FAST, FILE, PAPER
from tests.faults.processes import environment, options

RUNS = {
    "paper": PAPER | {"t_end": 0.04},
    "fast": FAST | {"dt": 2e-4},
}
MOST = 12.0
"""Seconds after which a session is left to come to its end."""


def start(*line, **changes):
    return subprocess.Popen(
        [sys.executable, "-m", "tengbc", *line, "--quiet"],
        env=environment(**changes),
        stderr=subprocess.PIPE,
        text=True,
    )


def begin(path, kind, **changes):
    line = ["run", f"{FILE}:heat", *options(kind), "--out", str(path), "--checkpoint-every", "0.1"]
    return start(*line, **changes)


def finish(child):
    _, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    return err


def bits(path):
    """The hash of what was computed: the history, and θ at all stored times."""
    solution = tb.load(path / "solution.safetensors")
    digest = hashlib.sha256((path / "history.csv").read_bytes())
    for array in (solution.times, solution.thetas, solution.error_estimate):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def killed_until_done(path, kind, kills, seed):
    """Kill that many sessions, each at a random moment, and let the last one finish."""
    rng, done = random.Random(seed), 0
    child = begin(path, kind)
    while done < kills:
        try:
            child.wait(timeout=rng.uniform(0.05, longest(path)))
        except subprocess.TimeoutExpired:
            child.kill()
        _, err = child.communicate()
        if child.returncode == 0:
            return done
        assert child.returncode == -signal.SIGKILL, err
        done += 1
        fresh = not (path / "options.toml").exists()
        child = begin(path, kind) if fresh else start("resume", str(path))
    finish(child)
    return done


def longest(path):
    """Now and then long enough for a few steps, whatever the machine is doing."""
    return MOST if len(list((path / "checkpoints").glob("*"))) == 0 else 0.7 * MOST


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    places = {name: tmp_path_factory.mktemp("undisturbed") / name for name in RUNS}
    for name, path in places.items():
        finish(begin(path, RUNS[name]))
    return {name: bits(path) for name, path in places.items()}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", [0])
def test_killed_at_random_times(tmp_path, undisturbed, name, seed):
    rounds, kills = 0, 0
    while kills < 12:
        path = tmp_path / f"run{rounds}"
        kills += killed_until_done(path, RUNS[name], 12 - kills, seed + rounds)
        rounds += 1
        assert bits(path) == undisturbed[name]


@pytest.mark.parametrize("name", RUNS)
def test_same_seed_same_bits(tmp_path, undisturbed, name):
    finish(begin(tmp_path / "again", RUNS[name]))
    assert bits(tmp_path / "again") == undisturbed[name]


def test_other_threads_warn_and_stay_close(tmp_path):
    """A hundred steps, the second half of them with two threads."""
    kind = FAST | {"dt": 2e-4, "checkpoint_every": 0}
    paths = [tmp_path / "one", tmp_path / "both"]
    finish(begin(paths[0], kind))
    child = begin(paths[1], kind)
    while (
        not (history := paths[1] / "history.csv").exists() or history.read_bytes().count(b"\n") < 30
    ):
        assert child.poll() is None
        time.sleep(0.02)
    child.kill()
    child.communicate()
    changed = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "XLA_FLAGS": ""}
    err = finish(start("resume", str(paths[1]), **changed))
    assert err.startswith("tengbc: since the last session ") and "last digits" in err
    one, both = (tb.load(path / "solution.safetensors") for path in paths)
    x = np.linspace(0.0, 1.0, 50)[:, None]
    difference = np.linalg.norm(one(x, 0.02) - both(x, 0.02))
    assert difference <= 1e-8 * np.linalg.norm(one(x, 0.02))


LONG_RUNS = {
    "heat-robin, rk4, paper": (
        "heat-robin",
        {
            "preset": "paper",
            "scheme": "rk4",
            "widths": (12, 12),
            "per_axis": 16,
            "boundary_points": 32,
            "subset": 100,
            "fit_iterations": 60,
            "t_end": 0.15,
        },
    ),
    "heat-robin, multistep, fast": (
        "heat-robin",
        {"preset": "fast", "scheme": "bdf3", "features": 60, "dt": 1e-4, "t_end": 1.0},
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", LONG_RUNS)
def test_a_hundred_kills_in_a_row(tmp_path, name, capsys):
    """On one run each; a kill comes only after the session has moved on, so that it ends."""
    problem, kind = LONG_RUNS[name]
    line = ["run", problem, *options(kind), "--checkpoint-every", "0.1"]
    child = start(*line, "--out", str(tmp_path / "undisturbed"))
    child.communicate()
    path, rng, kills = tmp_path / "run", random.Random(1), 0
    child = start(*line, "--out", str(path))
    history = path / "history.csv"
    while True:
        size = history.stat().st_size if history.exists() else 0
        deadline = time.monotonic() + rng.choice([rng.uniform(0.1, 4), 60])
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
            if history.exists() and history.stat().st_size > size + 200:
                time.sleep(rng.uniform(0, 0.3))
                break
        if child.poll() is not None:
            break
        child.kill()
        child.communicate()
        kills += 1
        with capsys.disabled():
            print(f"\r{name}: {kills} kills", end="", flush=True)
        if kills == 100:
            child = start("resume", str(path))
            break
        child = start("resume", str(path))
    child.communicate()
    assert kills == 100
    assert bits(path) == bits(tmp_path / "undisturbed")
