"""Every error of the package: one sentence that says what, why and what to do."""

import contextlib
import errno
from collections.abc import Iterator
from typing import Any


class TengbcError(Exception):
    """Base of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 1
    solution: Any = None
    """The solution as far as it got, where a run ended with this error."""


class UsageError(TengbcError, ValueError):
    """An option, a name or an argument that cannot be right."""

    exit_code = 2


class ProblemError(UsageError):
    """A problem statement that contradicts itself, such as a boundary without a condition."""


class OutsideError(UsageError):
    """A value was asked for outside the domain or outside the solved times."""


class NonFiniteError(TengbcError):
    """A function returned NaN or infinity; names the function, the time and the point."""

    exit_code = 3


class DivergedError(TengbcError):
    """The march left every reasonable bound."""

    exit_code = 3


class ToleranceError(TengbcError):
    """The requested tolerance was not reached."""

    exit_code = 6


class LostProcessError(TengbcError):
    """Another process of the same run is gone, so this one cannot go on."""

    exit_code = 7


class OutputError(TengbcError, OSError):
    """A file or directory could not be read or written.

    `out_of_space`: the disk was full; `in_use`: another process works in the directory.
    """

    exit_code = 5

    def __init__(self, message: str = "", out_of_space: bool = False, in_use: bool = False):
        super().__init__(message)
        self.out_of_space, self.in_use = out_of_space, in_use


@contextlib.contextmanager
def file_errors(what: str, advice: str) -> Iterator[None]:
    """What the system says against a file becomes an OutputError: `what` (reason); `advice`."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise OutputError(f"{what} ({error.strerror or error}); {advice}.", full) from None


class CheckpointError(TengbcError):
    """A checkpoint or a saved solution that is damaged, cut short, or of another kind."""

    exit_code = 4
