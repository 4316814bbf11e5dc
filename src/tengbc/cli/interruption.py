"""Ctrl-C as a polite request: the first asks to finish, the second ends at once."""

from __future__ import annotations

import signal
from types import TracebackType


class Interruption:
    """`with Interruption() as asked:` makes `asked()` true after the first signal."""

    def __enter__(self) -> Interruption:
        self._asked = False
        self._before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
        for name in self._before:
            signal.signal(name, self._heard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def __call__(self) -> bool:
        """Whether someone has asked to stop."""
        return self._asked

    def _heard(self, *_: object) -> None:
        self._asked = True
        self._restore()  # a second signal acts as it always does

    def _restore(self) -> None:
        for name, handler in self._before.items():
            signal.signal(name, handler)
