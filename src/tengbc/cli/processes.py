"""Several processes as one run: who they are, from the command line or from the scheduler.

`srun` and `mpirun` tell their processes their numbers; others are told by hand. Nothing heavy is
imported here: each process first becomes two, one that works and one that waits for it. JAX ends a
process the hard way where another is lost, and only somebody outside can tell that in a sentence.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from tengbc.errors import LostProcessError, UsageError
from tengbc.options import Options

LOOPBACK = "127.0.0.1:61431"
"""Where processes of one machine meet, unless they are told otherwise."""
NUMBERS = (("SLURM_NTASKS", "SLURM_PROCID"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"))
"""Where schedulers tell how many processes there are, and which this one is."""
LOST = (
    "lost a process: another process of this run is gone or cannot be reached, so this one has "
    "ended; go on with `tengbc resume` from the last checkpoint."
)

Coordinator = Annotated[
    str | None,
    typer.Option(help="HOST:PORT where the first of several processes is to be met."),
]
Processes = Annotated[int | None, typer.Option(help="How many processes work on this run.")]
Process = Annotated[int | None, typer.Option(help="Which of them this one is, from 0.")]


@dataclass(frozen=True)
class Team:
    """The processes of a run: where they meet, how many they are, which this one is."""

    coordinator: str = LOOPBACK
    processes: int = 1
    process: int = 0

    @property
    def apart(self) -> str:
        """What to say where they do not meet."""
        return (
            f"The {self.processes} processes of this run did not meet at {self.coordinator}; check "
            f"that all were started, with the same address, and that it can be reached."
        )


def team_of(
    coordinator: str | None, processes: int | None, process: int | None, options: Options
) -> Team:
    """What was said on the command line, else what the scheduler says; one process if neither."""
    if options.devices is None:
        if (coordinator, processes, process) != (None, None, None):
            raise UsageError(
                "Several processes share the points of devices; give devices too, such as "
                "--devices 8."
            )
        return Team()
    if (processes is None) != (process is None):
        raise UsageError("processes and process belong together; give both, or neither.")
    if processes is None or process is None:
        processes, process = _scheduled()
    if processes == 1:
        return Team()
    if not 0 <= process < processes:
        raise UsageError(
            f"process is {process}, but {processes} processes have the numbers 0 to "
            f"{processes - 1}; change one of the two."
        )
    if options.max_seconds is not None:
        raise UsageError(
            "max_seconds is not taken by several processes, whose clocks differ; leave it out and "
            "end the run with SIGTERM, after which `tengbc resume` goes on."
        )
    meeting = coordinator or _meeting()
    host, _, port = meeting.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(
            f"coordinator is {meeting!r}, but it should be HOST:PORT, such as {LOOPBACK}."
        )
    return Team(meeting, processes, process)


def _scheduled() -> tuple[int, int]:
    for count, number in NUMBERS:
        if os.environ.get(count, "").isdecimal() and os.environ.get(number, "").isdecimal():
            return int(os.environ[count]), int(os.environ[number])
    return 1, 0


def _meeting() -> str:
    """Where JAX's own detection would meet: the first node of Slurm, the launcher of Open MPI."""
    nodes, job = os.environ.get("SLURM_STEP_NODELIST"), os.environ.get("SLURM_JOB_ID", "0")
    if nodes:
        # node[003-5,9],other: the first name is that before the bracket and its first number.
        found = re.match(r"([^,\[]+)(?:\[([^,\-\]]+))?", nodes)
        assert found is not None
        step = os.environ.get("SLURM_STEP_ID", "0")
        port = 61440 + (int(job) + (int(step) if step.isdecimal() else 0)) % 4096
        return f"{found[1]}{found[2] or ''}:{port}"
    launcher = os.environ.get("OMPI_MCA_orte_hnp_uri", "")  # noqa: SIM112 (its own spelling)
    found = re.search(r"tcp://(.+?)[,:]", launcher)
    if found:
        return f"{found[1]}:{61440 + int(launcher.split('.')[0]) // 4096 % 4096}"
    if "OMPI_COMM_WORLD_SIZE" in os.environ:
        raise UsageError(
            "Open MPI does not say where its processes can meet; give --coordinator HOST:PORT, an "
            "address of the machine of rank 0."
        )
    return LOOPBACK


def supervised(team: Team) -> Callable[[], object]:
    """Return in a process of its own; the one that called waits, and ends as that one does.

    What is returned is to be called once the processes have met.
    """
    if team.processes == 1:
        return lambda: None
    met, meeting = os.pipe()
    worker = os.fork()
    if not worker:
        _end_with_parent()
        os.close(met)
        return lambda: os.write(meeting, b"met")
    os.close(meeting)
    # At a terminal both hear of Ctrl-C; what is sent to this one is passed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGTERM))
    _, status = os.waitpid(worker, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGABRT:
        error = LostProcessError(LOST) if os.read(met, 1) else UsageError(team.apart)
        print(f"tengbc: {error}", file=sys.stderr, flush=True)
        code = error.exit_code
    os._exit(code if code >= 0 else 128 - code)


def _end_with_parent() -> None:
    """On Linux a worker is killed with the process that waits for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def leave(code: int) -> None:
    """End the process; one of several says goodbye first, unless another is lost."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    shared = sys.modules.get("tengbc.runs.processes")
    goodbye: Callable[[bool], None] | None = getattr(shared, "goodbye", None)
    if goodbye is not None and shared is not None and shared.joined():
        goodbye(code == LostProcessError.exit_code)
        os._exit(code)
    sys.exit(code)
