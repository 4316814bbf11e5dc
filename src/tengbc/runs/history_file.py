"""history.csv: a line per step, appended while the run is under way, whole lines only."""

from __future__ import annotations

import csv
import errno
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tengbc.errors import OutputError
from tengbc.solver.record import Record

COLUMNS = (
    "march",
    "step",
    "time",
    "fit_residual",
    "rank",
    "condition",
    "accepted",
    "rejected",
    "error_estimate",
)


class HistoryFile:
    """Appends the lines it does not have yet; a run that is taken up again repeats none.

    `march` tells the solutions of a run apart: the answer of the preset `fast` has witnesses.
    """

    def __init__(self, path: Path, segments: Sequence[str]):
        self.path, self.segments = path, sorted(segments)
        self._last: dict[str, int] = {}
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._take_up()
        except OSError as error:
            raise self._failure(error) from None

    def append(self, march: str, record: Record) -> None:
        """The line of a step, unless it stands there already."""
        if record.step <= self._last.get(march, 0):
            return
        try:
            self._write(_line(march, record, self.segments))
        except OSError as error:
            raise self._failure(error) from None
        self._last[march] = record.step

    def flush(self) -> None:
        """Make sure that what was appended is on the disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise self._failure(error) from None

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
        header = _text([*COLUMNS, *(f"boundary_{segment}" for segment in self.segments)])
        if not text.startswith(header):
            os.ftruncate(self._handle, 0)
            self._write(header)
            return
        whole = text[: text.rindex(b"\n") + 1]
        os.ftruncate(self._handle, len(whole))
        for row in csv.reader(io.StringIO(whole.decode("utf-8", "replace"), newline="")):
            if len(row) > 1 and row[1].isdecimal():
                self._last[row[0]] = int(row[1])

    def _failure(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.path} cannot be written ({error.strerror}); make room or choose another --out.",
            out_of_space=error.errno in (errno.ENOSPC, errno.EDQUOT),
        )


def read_history(path: Path, march: str | None = None) -> Iterator[dict[str, str]]:
    """The rows of a history, of one march if it is named."""
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if march is None or row["march"] == march:
                yield row


def _line(march: str, record: Record, segments: Sequence[str]) -> bytes:
    estimate = "" if record.estimate is None else f"{record.estimate:.6e}"
    boundary = (record.boundary.get(segment) for segment in segments)
    return _text(
        [
            *(march, record.step, f"{record.time:.12g}", f"{record.residual:.6e}", record.rank),
            *(f"{record.condition:.3e}", record.accepted, record.rejected, estimate),
            *("" if value is None else f"{value:.6e}" for value in boundary),
        ]
    )


def _text(cells: Sequence[object]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()
