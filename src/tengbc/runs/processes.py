"""Several processes at work on one run: how they meet, what they agree on, who writes.

JAX's own runtime connects them. It does not authenticate anybody: the port is opened on the one
address that was given, and must be reachable from within the cluster only.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import jax
import numpy as np

from tengbc.errors import LostProcessError, OutputError, TengbcError, UsageError
from tengbc.journal import Journal, Snapshot, Stage, never
from tengbc.lstsq.blocks import gathered
from tengbc.provenance import versions
from tengbc.runs.checkpoints import Checkpoint
from tengbc.runs.config import Config

MEETING = 30
"""Seconds that processes wait for each other at the start."""
HEARTBEAT = 20
"""Seconds of silence after which a process counts as lost."""
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
"""One device is one thread: several would share out sums in an order of their own."""
LONGEST = 400
"""Bytes of a sentence that is passed on to other processes."""

Found = TypeVar("Found")


def use_devices(devices: int, processes: int = 1) -> None:
    """Have as many virtual devices on the CPU as this process needs, before JAX is first used."""
    if devices % processes:
        raise UsageError(
            f"devices is {devices}, which {processes} processes cannot share out evenly; choose a "
            f"multiple of {processes}."
        )
    flags = os.environ.get("XLA_FLAGS", "")
    if ONE_THREAD not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {ONE_THREAD}".strip()
    jax.config.update("jax_num_cpu_devices", devices // processes)


def join(coordinator: str, processes: int, process: int) -> None:
    """Meet the others at HOST:PORT, which the first process opens on that address alone."""
    if process == 0:
        _check_address(coordinator)
    jax.config.update("jax_enable_preemption_service", False)  # signals are the run's own affair
    jax.config.update("jax_check_proxy_envs", False)
    # If they do not meet, JAX ends this process with a trace; who waits for it has the sentence.
    with _silent(1), _silent(2):  # gloo tells of its connections there
        jax.distributed.initialize(
            coordinator,
            processes,
            process,
            cluster_detection_method="deactivate",
            initialization_timeout=MEETING,
            heartbeat_timeout_seconds=HEARTBEAT,
            coordinator_bind_address=coordinator,
        )
        _told(b"")


@contextlib.contextmanager
def _silent(stream: int) -> Iterator[None]:
    """Nothing reaches standard output, 1, or standard error, 2, from compiled code neither."""
    (sys.stdout if stream == 1 else sys.stderr).flush()
    kept, nowhere = os.dup(stream), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream)
        yield
    finally:
        os.dup2(kept, stream)
        os.close(kept)
        os.close(nowhere)


def _check_address(coordinator: str) -> None:
    """Refuse an address that is not ours or a port that is in use; JAX would share it."""
    host, _, port = coordinator.rpartition(":")
    try:
        kind, _, _, _, address = socket.getaddrinfo(host.strip("[]"), int(port))[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UsageError(
            f"The first process cannot listen at {coordinator} ({error.strerror or error}); choose "
            f"an address of its machine and a port that is free."
        ) from None


def joined() -> bool:
    """Whether this process is one of several."""
    return jax.distributed.is_initialized()


def first() -> bool:
    """Whether this process is the one that writes."""
    return not joined() or jax.process_index() == 0


def goodbye(lost: bool) -> None:
    """Wait for the others to be done too; with one of them lost there is nobody to wait for."""
    if not lost:
        with contextlib.suppress(LostProcessError, RuntimeError):
            _told(b"")
            jax.distributed.shutdown()


def _told(text: bytes) -> list[bytes]:
    """A short text of each process, known to all."""
    mine = np.zeros(LONGEST, np.uint8)
    mine[: len(text[:LONGEST])] = np.frombuffer(text[:LONGEST], np.uint8)
    return [row.tobytes().rstrip(b"\0") for row in gathered(mine)]


def agree(chosen: Config, before: Checkpoint | None = None) -> None:
    """Refuse to begin where processes differ in versions, problem, options or checkpoint."""
    if not joined():
        return
    seconds = None if before is None else before.about.get("seconds")
    parts = {
        "versions": json.dumps(versions(), sort_keys=True),
        "problem or options": chosen.hash,
        "number of devices": str(chosen.options.devices),
        "checkpoint": str(seconds),
    }
    for what, text in parts.items():
        told = _told(text.encode())
        if len(set(told)) > 1:
            other = next(k for k, said in enumerate(told) if said != told[0])
            raise UsageError(
                f"Process {other} has another {what} than process 0 ({_apart(told[other], told[0])}"
                f"); start all processes with the same."
            )


def _apart(one: bytes, other: bytes) -> str:
    """What two texts differ in, as short as it can be said."""
    with contextlib.suppress(ValueError):
        here, there = json.loads(one), json.loads(other)
        if isinstance(here, Mapping):
            return ", ".join(
                f"{k} {v}, not {there.get(k)}" for k, v in here.items() if there.get(k) != v
            )
    return f"{one.decode(errors='replace')[:12]}, not {other.decode(errors='replace')[:12]}"


def by_first(action: Callable[[], Found]) -> Found | None:
    """What only the first process does; where it fails, all fail with the same sentence."""
    found, failed = None, None
    if first():
        try:
            found = action()
        except TengbcError as error:
            failed = error
    if joined():
        sentence = _told(b"" if failed is None else str(failed).encode())[0]
        if failed is None and sentence:
            failed = OutputError(sentence.decode(errors="replace"))
    if failed is not None:
        raise failed
    return found


class SharedJournal:
    """The journal of one of several processes: the first writes, and all stop together."""

    def __init__(self, journal: Journal):
        self.journal = journal
        self.unwritten: OutputError | None = None

    def stage(self, name: str, over: Callable[[], bool] = never) -> Stage:
        """The stage of that name."""
        return _SharedStage(self, self.journal.stage(name, over))

    def stopping(self, asked: bool) -> bool:
        """Whether any process is asked to stop; a disk that fails is an error in all of them."""
        told = _told(b"failed" if self.unwritten else b"stop" if asked else b"")
        if b"failed" in told:
            raise self.unwritten or OutputError("the first process could not write its files.")
        return any(told)


class _SharedStage:
    """Every step is looked at, since clocks differ; what one wants to stop, all stop."""

    interval = 0.0

    def __init__(self, journal: SharedJournal, stage: Stage):
        self.journal, self.inner, self.name = journal, stage, stage.name

    @property
    def seconds_before(self) -> float:
        return self.inner.seconds_before

    @property
    def stopping(self) -> bool:
        return self.journal.stopping(self.inner.stopping)

    def recall(self) -> Snapshot | None:
        return self.inner.recall()

    def note(self, record) -> None:
        self._written(lambda: self.inner.note(record))

    def offer(self, snapshot: Callable[[], Snapshot]) -> None:
        self._written(lambda: self.inner.offer(snapshot))

    def finish(self, snapshot: Snapshot) -> None:
        self._written(lambda: self.inner.finish(snapshot))

    def _written(self, write: Callable[[], None]) -> None:
        """A disk that fails is told to all when they next ask whether to stop."""
        try:
            write()
        except OutputError as error:
            self.journal.unwritten = error


class Follower:
    """The journal of a process that does not write: it recalls what the first has written."""

    def __init__(self, before: Checkpoint | None, stopping: Callable[[], bool]):
        self.stages = {} if before is None else dict(before.stages)
        self.asked = stopping

    def stage(self, name: str, over: Callable[[], bool] = never) -> Stage:
        """The stage of that name."""
        return _FollowedStage(self, name)


class _FollowedStage:
    interval, seconds_before = 0.0, 0.0

    def __init__(self, journal: Follower, name: str):
        self.journal, self.name = journal, name

    @property
    def stopping(self) -> bool:
        return self.journal.asked()

    def recall(self) -> Snapshot | None:
        return self.journal.stages.get(self.name)

    def note(self, record) -> None:
        pass

    def offer(self, snapshot: Callable[[], Snapshot]) -> None:
        pass

    def finish(self, snapshot: Snapshot) -> None:
        self.journal.stages[self.name] = snapshot


def shared(journal: Journal) -> Journal:
    """A journal as it is, or among several processes one that they stop by together."""
    return SharedJournal(journal) if joined() else journal
