"""As many workers as there are cores, one thread each, and the runs dealt out among them."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from tengbc.errors import OutputError, UsageError
from tengbc.runs.signals import SignalWatch
from tengbc.sweeps.board import Board
from tengbc.sweeps.rows import UNFINISHED
from tengbc.sweeps.study import Study
from tengbc.threads import one_thread

KILLED = "killed"
"""The outcome of a run whose process was ended from outside, such as for want of memory."""
TRIED = 10
"""Runs whose problems are made to see whether a study can be: one that can is enough."""
AGAIN = 0.5
"""Seconds until a run that another process works on is looked at again."""


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Pool:
    """Workers, among which the runs of a study are dealt out; they end with the `with` block."""

    def __init__(self, count: int):
        self._workers = [_Worker() for _ in range(count)]
        self._waiting = deque[int]()
        self._later: dict[int, float] = {}
        self._busy: dict[_Worker, int] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    def check(self, study: Study) -> None:
        """Refuse a study whose first runs cannot be; the other workers make their imports."""
        first = self._workers[0]
        asked = {"parameters": study.parameters, "quantities": study.quantities}
        first.send({"check": [run.given for run in study.runs[:TRIED]], **asked})
        for message in first.messages():
            if message["refused"] is not None:
                raise UsageError(message["refused"])
            return
        raise OutputError("A worker ended before its first run; see tengbc doctor.")

    def work(self, study: Study, numbers: Iterable[int], board: Board) -> int | None:
        """Do these runs; the board hears what comes of each. Gives the signal that ended it."""
        self._waiting.extend(numbers)
        with board, watch_signals() as watch, selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.source, selectors.EVENT_READ, worker)
            while self._waiting or self._later or self._busy:
                if watch.stopping:
                    self._stop()
                self._deal(study, board)
                board.draw()
                for key, _ in selector.select(timeout=0.1):
                    if not self._hear(key.data, board):
                        selector.unregister(key.data.source)
                        new = self._bury(key.data, board, watch.stopping)
                        if new is not None:
                            selector.register(new.source, selectors.EVENT_READ, new)
            return watch.received

    def _stop(self) -> None:
        """Begin nothing more; what is in hand comes to a checkpoint."""
        self._waiting.clear()
        self._later.clear()
        for worker in self._busy:
            worker.stop()

    def _deal(self, study: Study, board: Board) -> None:
        """A run for every worker that has none."""
        now = time.monotonic()
        for number in [number for number, due in self._later.items() if due <= now]:
            self._waiting.append(number)
            del self._later[number]
        for worker in self._workers:
            if self._waiting and worker not in self._busy:
                self._busy[worker] = number = self._waiting.popleft()
                board.begins(number)
                worker.send({"out": str(study.out.absolute()), "run": number})

    def _hear(self, worker: _Worker, board: Board) -> bool:
        """Take in what a worker says; False if it is gone."""
        alive, answers = worker.read()
        for answer in answers:
            if "phase" in answer:
                board.moves(self._busy[worker], answer["phase"], answer["fraction"])
                continue
            number = self._busy.pop(worker)
            if answer.get("in_use"):
                board.elsewhere(number)
                self._later[number] = time.monotonic() + AGAIN
            else:
                board.ends(number, answer["outcome"], answer["message"])
        return alive

    def _bury(self, dead: _Worker, board: Board, stopping: bool) -> _Worker | None:
        """What became of the run in hand; and another worker, unless we are stopping."""
        dead.end()
        self._workers.remove(dead)
        number = self._busy.pop(dead, None)
        if stopping:
            if number is not None:
                board.ends(number, UNFINISHED, "")
            return None
        if number is not None:
            said = f"its process ended from outside ({dead.cause}); start the sweep again to go on."
            board.ends(number, KILLED, said)
        self._workers.append(_Worker())
        return self._workers[-1]


def watch_signals() -> AbstractContextManager[SignalWatch]:
    """Signals are noted in the main thread only: elsewhere Python does not let us."""
    main = threading.current_thread() is threading.main_thread()
    return SignalWatch() if main else nullcontext(SignalWatch())


def _environment() -> dict[str, str]:
    """One thread, and this very package, wherever the caller has it from."""
    home = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return one_thread(os.environ) | {"PYTHONPATH": paths}


class _Worker:
    """A process of `tengbc.sweeps.worker`, in a session of its own: Ctrl-C comes from us alone."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tengbc.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.source = self.process.stdout
        self._half, self._asked_to_stop = b"", False

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # `read` will notice that it is gone
            self.process.stdin.write((json.dumps(message) + "\n").encode())
            self.process.stdin.flush()

    def read(self) -> tuple[bool, list[dict[str, Any]]]:
        """Whether the process lives, and what it has said since."""
        data = os.read(self.source.fileno(), 65536)
        *lines, self._half = (self._half + data).split(b"\n")
        return bool(data), [json.loads(line) for line in lines]

    def messages(self) -> Iterator[dict[str, Any]]:
        """All that it says, until it ends."""
        alive = True
        while alive:
            alive, said = self.read()
            yield from said

    @property
    def cause(self) -> str:
        """Why it ended."""
        code = self.process.returncode
        return signal.Signals(-code).name if code < 0 else f"code {code}"

    def stop(self) -> None:
        """Ask it once to finish its step and write a checkpoint."""
        if not self._asked_to_stop:
            self._asked_to_stop = True
            self.process.terminate()

    def end(self) -> None:
        """Let it go: it has nothing in hand, or nobody waits for it."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        if not self._asked_to_stop:
            self.process.terminate()
        self.process.wait()
