"""A problem file for sweeps, small enough for a hundred runs, and helpers to start them."""

import subprocess
import sys
from pathlib import Path

from tests.faults.processes import environment

FILE = Path(__file__).with_name("rods.py")
CHEAP = {"t_end": 0.02, "rtol": 1e-3}
"""A run of some hundredths of a second."""


def write_study(path, out, text, problem="rod"):
    """A study file, with all that every one of them has."""
    lines = [f'problem = "{FILE}:{problem}"', f'out = "{out}"']
    lines += [f"{name} = {value}" for name, value in CHEAP.items()]
    path.write_text("\n".join([*lines, text]) + "\n")
    return path


def start(*line):
    """`tengbc sweep` in a process of its own."""
    command = [sys.executable, "-m", "tengbc", "sweep", *map(str, line)]
    return subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(child, code=0):
    out, err = child.communicate(timeout=120)
    assert child.returncode == code, (child.returncode, out, err)
    return out, err


def sessions(directory):
    """How often a run has begun or gone on, and how often it has come to its end."""
    log = (directory / "log.txt").read_text()
    begun = log.count("begins anew") + log.count("goes on from a checkpoint")
    return begun, log.count("ends: done")
