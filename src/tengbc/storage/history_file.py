"""history.csv: a line per step, appended while the run is under way, whole lines only."""

import csv
import errno
import io
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tengbc.errors import file_errors
from tengbc.history import Record

STEP_COLUMNS = ("march", "step", "time")
"""What every line begins with; the quantities of the first record follow."""


class HistoryFile:
    """Appends the lines it does not have yet; a run that is taken up again repeats none.

    `march` tells the solutions of a run apart: an answer has companions.
    """

    def __init__(self, path: Path):
        self.path = path
        self._names: tuple[str, ...] | None = None
        self._last: dict[str, int] = {}
        with self._errors():
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._take_up()

    def append(self, march: str, record: Record) -> None:
        """The line of a step, unless it stands there already."""
        if record.step <= self._last.get(march, 0):
            return
        with self._errors():
            if self._names is None:
                self._names = tuple(record.measured)
                self._write(_text([*STEP_COLUMNS, *self._names]))
            known = (record.measured.get(name) for name in self._names)
            cells = ("" if value is None else f"{value:.7g}" for value in known)
            self._write(_text([march, record.step, f"{record.time:.12g}", *cells]))
        self._last[march] = record.step

    def flush(self) -> None:
        """Make sure that what was appended is on the disk."""
        with self._errors():
            os.fsync(self._handle)

    def close(self) -> None:
        """No more lines."""
        os.close(self._handle)

    def _write(self, line: bytes) -> None:
        end = os.fstat(self._handle).st_size
        if os.write(self._handle, line) < len(line):  # the disk is full: no half lines
            os.ftruncate(self._handle, end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _take_up(self) -> None:
        """Drop a last line that a kill has cut short, and note which steps are there."""
        size = os.fstat(self._handle).st_size
        text = os.pread(self._handle, size, 0)
        if not text.startswith(_text(STEP_COLUMNS)[:-1]) or b"\n" not in text:
            os.ftruncate(self._handle, 0)
            return
        whole = text[: text.rindex(b"\n") + 1]
        os.ftruncate(self._handle, len(whole))
        rows = csv.reader(io.StringIO(whole.decode("utf-8", "replace"), newline=""))
        self._names = tuple(next(rows)[len(STEP_COLUMNS) :])
        for row in rows:
            if len(row) > 1 and row[1].isdecimal():
                self._last[row[0]] = int(row[1])

    def _errors(self) -> AbstractContextManager[None]:
        return file_errors(f"{self.path} cannot be written", "make room or choose another --out")


def read_history(path: Path, march: str | None = None) -> list[dict[str, str]]:
    """The rows of a history, of one march if it is named; none where there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if march is None or row["march"] == march]


def _text(cells: Sequence[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()
