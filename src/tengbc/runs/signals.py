"""SIGINT and SIGTERM: the first asks the run to end, the second ends it at once."""

from __future__ import annotations

import signal
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class SignalWatch:
    """While it is entered, a first signal is only noted: the run finishes its step and returns.

    A second one meets the system's own handling, so it works even inside compiled code. `raising`
    is for work that does not ask: there the first signal raises KeyboardInterrupt at once.
    """

    def __init__(self, raising: bool = False):
        self.received: int | None = None
        self._raising = raising
        self._before = {}

    def __enter__(self) -> SignalWatch:
        self._before = {number: signal.signal(number, self._note) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @property
    def stopping(self) -> bool:
        """Whether a signal has come."""
        return self.received is not None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        for other in SIGNALS:
            signal.signal(other, signal.SIG_DFL)
        if self._raising:
            raise KeyboardInterrupt
