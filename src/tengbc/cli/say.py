"""What the command line says beside its results."""

import sys


def say(text: str) -> None:
    """A sentence on standard error."""
    print(f"tengbc: {text}", file=sys.stderr)
