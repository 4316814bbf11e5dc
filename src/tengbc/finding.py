"""What a check has found."""

from dataclasses import dataclass
from typing import Literal

from tengbc.errors import TengbcError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine, worth knowing, doubtful, or wrong.

    `error` says the same as an exception, where there is one.
    """

    level: Literal["fine", "note", "warning", "error"]
    text: str
    error: TengbcError | None = None
