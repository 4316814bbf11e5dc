"""The command line: `tengbc run heat-robin`; signals are dealt with before all else is imported."""

import contextlib
import os
import signal
from types import FrameType

from tengbc.runs.signals import SIGNALS


def main() -> None:
    """Entry point of the `tengbc` command."""
    before = {}
    with contextlib.suppress(ValueError):  # only a program's main thread may set handlers
        before = {number: signal.signal(number, _leave) for number in SIGNALS}
    try:
        from tengbc.cli.app import main as run

        run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    """End with one sentence, at once: an exception could get lost in an import or a callback.

    What has something to keep watches signals itself, see `tengbc.runs.signals`.
    """
    os.write(2, b"tengbc: interrupted.\n")
    os._exit(128 + number)
