"""P1, P2, P16: real processes, SIGKILL at random times, and the same bits in the end."""

import functools
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import tengbc as tb
from tests.faults.cases import DEFAULT, FILE, FROZEN, PAPER
from tests.faults.processes import environment, forked, options

RUNS = {
    "paper": PAPER | {"t_end": 0.04},
    "fast": FROZEN | {"dt": 2e-4},
    "default": DEFAULT | {"rtol": 1e-9},
    "multistep": FROZEN | {"scheme": "bdf3", "dt": 2e-4},
}


def start(*line, **changes):
    return subprocess.Popen(
        [sys.executable, "-m", "tengbc", *line, "--quiet"],
        env=environment(**changes),
        stderr=subprocess.PIPE,
        text=True,
    )


def run(path, kind):
    return ["run", f"{FILE}:heat", *options(kind), "--out", str(path), "--checkpoint-every", "0.1"]


def begin(path, kind, **changes):
    return start(*run(path, kind), **changes)


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


def killed_until_done(path, kind, kills, rng, longest):
    """Kill that many sessions, each at a random moment, and let the last one finish."""
    child, done = forked(*run(path, kind)), 0
    while done < kills:
        child.join(rng.uniform(0.0, longest))
        if child.exitcode is None:
            child.kill()
            child.join()
        if child.exitcode == 0:
            return done
        assert child.exitcode == -signal.SIGKILL
        done += 1
        fresh = not (path / "options.toml").exists()
        child = forked(*(run(path, kind) if fresh else ("resume", str(path))))
    child.join()
    assert child.exitcode == 0
    return done


@functools.cache
def undisturbed(name):
    """The bits of a run that nothing happens to."""
    with tempfile.TemporaryDirectory() as place:
        finish(begin(Path(place) / name, RUNS[name]))
        return bits(Path(place) / name)


@pytest.mark.parametrize("name", RUNS)
def test_twelve_kills_at_random_times(tmp_path, name):
    """Over all that a session does: start, compilation, steps, checkpoints, files at its end."""
    expected = undisturbed(name)
    forked("--help").join()  # the imports, once
    began = time.monotonic()
    forked(*run(tmp_path / "whole", RUNS[name])).join()
    longest = time.monotonic() - began
    rng, rounds, kills = random.Random(0), 0, 0
    while kills < 12:
        path = tmp_path / f"run{rounds}"
        kills += killed_until_done(path, RUNS[name], 12 - kills, rng, longest)
        rounds += 1
        assert bits(path) == expected


@pytest.mark.parametrize("name", ["paper", "fast", "default"])
def test_three_runs_one_hash(tmp_path, name):
    for again in ("second", "third"):
        finish(begin(tmp_path / again, RUNS[name]))
        assert bits(tmp_path / again) == undisturbed(name)


def test_other_threads_warn_and_stay_close(tmp_path):
    """Most of four hundred steps with two threads, what came before them with one."""
    kind = FROZEN | {"dt": 5e-5, "checkpoint_every": 0}
    paths = [tmp_path / "one", tmp_path / "both"]
    finish(begin(paths[0], kind))
    child = begin(paths[1], kind)
    while (
        not (history := paths[1] / "history.csv").exists() or history.read_bytes().count(b"\n") < 30
    ):
        assert child.poll() is None
        time.sleep(0.002)
    child.kill()
    child.communicate()
    assert history.read_bytes().count(b"\n") < 300, "too few steps are left"
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
            "dt": 2e-4,
            "t_end": 0.5,
        },
    ),
    "heat-robin, multistep, fast": (
        "heat-robin",
        {"strategy": "frozen-features", "scheme": "bdf3", "features": 60, "dt": 2e-5, "t_end": 1.0},
    ),
}
KILLS = 200


@pytest.mark.long
@pytest.mark.parametrize("name", LONG_RUNS)
def test_two_hundred_kills_in_a_row(tmp_path, name, capsys):
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
                time.sleep(rng.uniform(0, 0.1))
                break
        if child.poll() is not None:
            break
        child.kill()
        child.communicate()
        kills += 1
        with capsys.disabled():
            print(f"\r{name}: {kills} kills", end="", flush=True)
        fresh = not (path / "options.toml").exists()
        child = start(*line, "--out", str(path)) if fresh else start("resume", str(path))
        if kills == KILLS:
            break
    _, err = child.communicate()
    assert kills == KILLS, err
    assert bits(path) == bits(tmp_path / "undisturbed")
