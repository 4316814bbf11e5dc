"""Real signals to every command: one sentence, the signal's exit code, what was done is kept."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tengbc import journal
from tengbc.cli import main
from tengbc.progress import Bar
from tests.faults.cases import FILE, PAPER
from tests.faults.processes import options

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
FEM = ("baseline", "fem", f"{FILE}:square", "--resolution", 6, "--dt", 1e-3)
SPECTRAL = ("baseline", "spectral", f"{FILE}:steepening", "--t-end", 1, "--resolution", 32)
PINN = ("baseline", "pinn-bfgs", f"{FILE}:square", "--seconds", 100)


@pytest.fixture
def run(monkeypatch, capsys):
    """`run(arguments, number, phase)`: the signal comes at the third report of that phase."""
    monkeypatch.setattr(journal, "LOOK", 0.0)  # so that every step is reported

    def call(arguments, number, phase):
        shown, reports = Bar.__call__, 0

        def watched(self, now, fraction, known):
            nonlocal reports
            reports += now.startswith(phase)
            shown(self, now, fraction, known)
            if reports == 3 and now.startswith(phase):
                os.kill(os.getpid(), number)

        monkeypatch.setattr(Bar, "__call__", watched)
        monkeypatch.setattr(sys, "argv", ["tengbc", *map(str, arguments)])
        before = [signal.getsignal(each) for each in CODES]
        with pytest.raises(SystemExit) as ended:
            main()
        assert [signal.getsignal(each) for each in CODES] == before
        return ended.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(
    ("number", "arguments", "phase", "said"),
    [
        (signal.SIGINT, FEM, "march", "stopped on request at t = 0.003 of 1"),
        (signal.SIGTERM, FEM, "march", "stopped on request at t = 0.003 of 1"),
        (signal.SIGTERM, SPECTRAL, "march", "stopped at t = 0 of 1"),
        (signal.SIGINT, PINN, "train", "stopped on request after 3 steps"),
    ],
    ids=["fem", "fem, terminated", "spectral", "pinn"],
)
def test_a_baseline_keeps_what_it_has(run, tmp_path, number, arguments, phase, said):
    code, err = run([*arguments, "--out", tmp_path], number, phase)
    assert code == CODES[number] and err == f"tengbc: interrupted: {said}.\n"
    content = json.loads((tmp_path / "summary.json").read_text())
    assert content["outcome"] == "interrupted" and content["parameters"] > 0
    if arguments is FEM:
        assert 0 < content["relative_l2_max"] < 0.1


@pytest.mark.parametrize("number", CODES)
def test_a_comparison_keeps_the_trials_before(run, tmp_path, number):
    line = ["compare", f"{FILE}:square", "--solvers", "spectral,fem,fast", "--seconds", 3]
    code, err = run([*line, "--out", tmp_path], number, "fast")
    assert code == CODES[number]
    foretold, said = err.splitlines()
    assert "3 solvers with 3 s each: about 9 s in all" in foretold
    assert said == f"tengbc: interrupted by a signal; what was done is in {tmp_path}."
    rows = list(csv.DictReader((tmp_path / "comparison.csv").read_text().splitlines()))
    solvers = [row["solver"] for row in rows]
    assert list(dict.fromkeys(solvers)) == ["spectral", "fem", "fast"]
    assert float(rows[solvers.index("fem")]["error"]) < 0.1
    assert "interrupted." in (tmp_path / "comparison.md").read_text()


def test_a_run_without_a_directory_says_how_far_it_came(run):
    line = ["run", f"{FILE}:heat", *options(PAPER)]
    code, err = run(line, signal.SIGTERM, "march")
    assert code == 143
    assert err == "tengbc: interrupted: stopped on request at t = 0.003 of 0.012.\n"


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("wait", [0.0, 0.4])
def test_while_it_is_starting(number, wait):
    """Before there is anything to keep, in the middle of imports: from its own first line on."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tengbc", "run", "heat-robin"], stderr=subprocess.PIPE, text=True
    )
    while not catches(child.pid, signal.SIGTERM):
        time.sleep(0.002)
    time.sleep(wait)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (CODES[number], "tengbc: interrupted.\n")


def catches(process: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal (Python has none for SIGTERM)."""
    with open(f"/proc/{process}/status") as file:
        caught = next(line for line in file if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
