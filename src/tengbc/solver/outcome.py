"""The ways a run can end; a failure is a value with a sentence in it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from tengbc.errors import (
    DivergedError,
    NonFiniteError,
    OutputError,
    TengbcError,
    ToleranceError,
)


class Outcome(enum.Enum):
    """How a run ended."""

    DONE = "done"
    TOLERANCE_NOT_REACHED = "tolerance not reached"
    DIVERGED = "diverged"
    NON_FINITE = "non-finite"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    OUT_OF_SPACE = "out of space"
    NOT_WRITTEN = "not written"


@dataclass(frozen=True)
class Result:
    """How a run ended, and in one sentence why."""

    outcome: Outcome
    message: str = ""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.DONE

    def __str__(self) -> str:
        return self.outcome.value if not self.message else f"{self.outcome.value}: {self.message}"

    def error(self) -> TengbcError | None:
        """The exception that says the same, or None where there is nothing to raise."""
        kind = KINDS.get(self.outcome)
        return None if kind is None else kind(self.message)


KINDS: dict[Outcome, type[TengbcError]] = {
    Outcome.TOLERANCE_NOT_REACHED: ToleranceError,
    Outcome.DIVERGED: DivergedError,
    Outcome.NON_FINITE: NonFiniteError,
    Outcome.STALLED: DivergedError,
    Outcome.OUT_OF_SPACE: OutputError,
    Outcome.NOT_WRITTEN: OutputError,
}


def unwritten(error: OutputError) -> Result:
    """The result of a run whose files could not be written."""
    return Result(Outcome.OUT_OF_SPACE if error.out_of_space else Outcome.NOT_WRITTEN, str(error))


def result_of(error: TengbcError) -> Result | None:
    """The result that says the same as an error; None for errors that are not ends of a run."""
    if isinstance(error, OutputError):
        return unwritten(error)
    found = [outcome for outcome, kind in KINDS.items() if isinstance(error, kind)]
    return Result(found[0], str(error)) if found else None
