"""Runs on several devices and processes, on the loopback: same bits, named ends, refusals."""

import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import tengbc as tb
from tengbc.cli.processes import LOOPBACK, Team, team_of
from tengbc.errors import UsageError
from tengbc.options import options
from tests.faults.cases import FILE, FROZEN, PAPER
from tests.faults.processes import environment
from tests.faults.processes import options as words

RUNS = {"frozen": FROZEN, "paper": PAPER}
UNDER = 60.0
"""Seconds within which a process that lost another has to end."""


def start(*line, **changes):
    return subprocess.Popen(
        [sys.executable, "-m", "tengbc", *map(str, line), "--quiet"],
        env=environment(**changes),
        stderr=subprocess.PIPE,
        text=True,
    )


def run(kind, path, devices, **more):
    chosen = words({**RUNS[kind], **more})
    return ["run", f"{FILE}:heat", *chosen, "--devices", devices, "--out", path]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def two(line, other=None, ports=None):
    """Two processes of a run that meet on the loopback."""
    port = free_port()
    ports = ports or (port, port)
    return [
        start(*each, "--coordinator", f"127.0.0.1:{port}", "--processes", 2, "--process", k)
        for k, (each, port) in enumerate(zip((line, other or line), ports, strict=True))
    ]


def ended(*processes):
    """(exit code, what was said) of each."""
    said = [process.communicate(timeout=240)[1] for process in processes]
    return [(p.returncode, text) for p, text in zip(processes, said, strict=True)]


def bits(path):
    solution = tb.load(path / "solution.safetensors")
    return (path / "history.csv").read_bytes(), np.asarray(solution.thetas).tobytes()


@pytest.mark.parametrize("kind", RUNS)
def test_the_same_bits_on_any_number_of_devices_and_processes(kind, tmp_path):
    places = {devices: tmp_path / str(devices) for devices in (1, 2, 8)}
    for devices, place in places.items():
        ((code, said),) = ended(start(*run(kind, place, devices)))
        assert code in (0, 6), said  # so few features may miss the tolerance
    for code, said in ended(*two(run(kind, tmp_path / "two", 8))):
        assert code in (0, 6), said
    wanted = bits(places[1])
    for place in (places[2], places[8], tmp_path / "two"):
        assert bits(place) == wanted


@pytest.mark.parametrize("lost", [0, 1])
def test_a_lost_process_is_named_and_the_run_goes_on_elsewhere(lost, tmp_path):
    kind, longer = "frozen", {"dt": 2e-4}
    ((code, said),) = ended(start(*run(kind, tmp_path / "whole", 1, **longer)))
    assert code in (0, 6), said
    place = tmp_path / "two"
    processes = two([*run(kind, place, 4, **longer), "--checkpoint-every", 0.1])
    deadline = time.monotonic() + 120
    while not list(place.glob("checkpoints/*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.05)
    processes[lost].send_signal(signal.SIGKILL)
    began = time.monotonic()
    ((code, said),) = ended(processes[1 - lost])
    assert time.monotonic() - began < UNDER
    assert code == 7
    assert "process of this run is gone" in said
    processes[lost].communicate()
    ((code, said),) = ended(start("resume", place, "--devices", 8))
    assert code in (0, 6), said
    assert bits(place) == bits(tmp_path / "whole")


def test_processes_that_differ_are_refused(tmp_path):
    place = tmp_path / "run"
    line = run("frozen", place, 2)
    began = time.monotonic()
    for code, said in ended(*two(line, run("frozen", place, 2, seed=1))):
        assert (code, "another problem or options" in said) == (2, True), said
    assert time.monotonic() - began < UNDER
    assert not place.exists()


def test_other_versions_are_refused(tmp_path):
    """A process whose packages say that they are of another version."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata as m\n"
        "known = m.version\n"
        "m.version = lambda name: '0.0.1' if name == 'scipy' else known(name)\n"
    )
    port, place = free_port(), tmp_path / "run"
    meeting = ("--coordinator", f"127.0.0.1:{port}", "--processes", 2, "--process")
    path = ":".join([str(tmp_path), *sys.path])
    processes = [
        start(*run("frozen", place, 2), *meeting, 0),
        start(*run("frozen", place, 2), *meeting, 1, PYTHONPATH=path),
    ]
    for code, said in ended(*processes):
        assert (code, "another versions" in said, "scipy 0.0.1" in said) == (2, True, True), said
    assert not place.exists()


def test_a_port_in_use_and_a_wrong_address_are_refused(tmp_path):
    place = tmp_path / "run"
    line = run("frozen", place, 2)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        busy = f"127.0.0.1:{taken.getsockname()[1]}"
        began = time.monotonic()
        meeting = ("--coordinator", busy, "--processes", 2, "--process", 0)
        ((code, said),) = ended(start(*line, *meeting))
        assert (code, "cannot listen" in said) == (2, True), said
    for code, said in ended(*two(line, ports=(free_port(), free_port()))):
        assert (code, "did not meet" in said) == (2, True), said
    assert time.monotonic() - began < UNDER + 15
    assert not place.exists()


def test_only_the_address_that_was_given_is_listened_at(tmp_path):
    """The loopback's second address finds nobody, as it would if all interfaces were open."""
    port = free_port()
    meeting = ("--coordinator", f"127.0.0.1:{port}", "--processes", 2, "--process", 0)
    process = start(*run("frozen", tmp_path / "run", 2), *meeting)
    deadline, answers = time.monotonic() + 60, False
    while not answers and time.monotonic() < deadline:
        with socket.socket() as probe:
            answers = probe.connect_ex(("127.0.0.1", port)) == 0
        time.sleep(0.1)
    with socket.socket() as probe:
        elsewhere = probe.connect_ex(("127.0.0.2", port))
    process.kill()
    process.communicate()
    assert answers
    assert elsewhere != 0


# Who the processes are.


def team(monkeypatch, coordinator=None, processes=None, process=None, **environ):
    for name in ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return team_of(coordinator, processes, process, options(devices=8))


def test_one_process_unless_told_otherwise(monkeypatch):
    assert team(monkeypatch) == Team()
    assert team(monkeypatch, processes=2, process=1) == Team(LOOPBACK, 2, 1)


def test_slurm_tells(monkeypatch):
    told = {"SLURM_NTASKS": "4", "SLURM_PROCID": "3", "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "2"}
    for nodes, first in {"n1": "n1", "n1,n2": "n1", "n[03-5,9],x": "n03", "n[7,8]": "n7"}.items():
        found = team(monkeypatch, SLURM_STEP_NODELIST=nodes, **told)
        assert found == Team(f"{first}:{61440 + 9}", 4, 3)


def test_open_mpi_tells(monkeypatch):
    told = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}
    monkeypatch.delenv("SLURM_STEP_NODELIST", raising=False)
    with pytest.raises(UsageError, match="--coordinator"):
        team(monkeypatch, **told)
    uri = "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911"
    found = team(monkeypatch, OMPI_MCA_orte_hnp_uri=uri, **told)
    assert found == Team(f"10.96.0.1:{61440 + 1531576320 // 4096 % 4096}", 2, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"processes": 2}, "belong together"),
        ({"processes": 2, "process": 2}, "0 to 1"),
        ({"processes": 2, "process": 0, "coordinator": "nowhere"}, "HOST:PORT"),
    ],
)
def test_what_cannot_be_is_refused(monkeypatch, given, said):
    with pytest.raises(UsageError, match=said):
        team(monkeypatch, **given)


def test_processes_need_devices_and_no_clock():
    with pytest.raises(UsageError, match="give devices too"):
        team_of(None, 2, 0, options())
    with pytest.raises(UsageError, match="max_seconds"):
        team_of(None, 2, 0, options(devices=2, max_seconds=5.0))


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"devices": 8}, "frozen-features"),
        ({"strategy": "frozen-features", "blocks": 8}, "give devices too"),
        ({"preset": "paper", "devices": 1, "stage_data": "values"}, "stage_data"),
    ],
)
def test_options_that_a_strategy_cannot_honour_are_refused(choices, said):
    with pytest.raises(UsageError, match=said):
        tb.solve(tb.problems.get("heat-robin"), progress=False, **choices)
