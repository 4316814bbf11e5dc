"""The ways a run can end, and all that follows from each; a failure is a value with a sentence."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal

from tengbc.errors import (
    DivergedError,
    LostProcessError,
    NonFiniteError,
    OutputError,
    TengbcError,
    ToleranceError,
)


class Outcome(enum.Enum):
    """How a run ended: its name, what a report says of it, and what can be done.

    `verdict` is good, doubtful or bad; a `resumable` run goes on with `tengbc resume`; `error` is
    the exception that says the same, None where there is nothing to raise.
    """

    exit_code: int
    verdict: Literal["good", "doubtful", "bad"]
    headline: str
    error: type[TengbcError] | None
    resumable: bool

    def __new__(cls, name, verdict, headline, error=None, resumable=False, exit_code=0) -> Outcome:
        self = object.__new__(cls)
        self._value_, self.verdict, self.headline = name, verdict, headline
        self.error, self.resumable = error, resumable
        self.exit_code = exit_code if error is None else error.exit_code
        return self

    DONE = "done", "good", "Solved"
    TOLERANCE_NOT_REACHED = (
        *("tolerance not reached", "doubtful", "Less accurate than asked"),
        ToleranceError,
    )
    OUT_OF_TIME = "out of time", "doubtful", "Stopped: max_seconds were over", None, True, 6
    DIVERGED = "diverged", "bad", "Not solved: the march diverged", DivergedError
    NON_FINITE = "non-finite", "bad", "Not solved: a value was not finite", NonFiniteError
    STALLED = "stalled", "bad", "Not solved: the fit stood still", DivergedError
    OUT_OF_SPACE = "out of space", "doubtful", "Stopped: the disk is full", OutputError, True
    NOT_WRITTEN = (
        *("not written", "doubtful", "Stopped: a file could not be written"),
        *(OutputError, True),
    )
    LOST_PROCESS = (
        *("lost a process", "doubtful", "Stopped: another process was lost"),
        *(LostProcessError, True),
    )
    INTERRUPTED = "interrupted", "doubtful", "Stopped before the end", None, True, 130


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
        return None if self.outcome.error is None else self.outcome.error(self.message)


def unwritten(error: OutputError) -> Result:
    """The result of a run whose files could not be written."""
    return Result(Outcome.OUT_OF_SPACE if error.out_of_space else Outcome.NOT_WRITTEN, str(error))


def result_of(error: TengbcError) -> Result | None:
    """The result that says the same as an error; None for errors that are not ends of a run."""
    if isinstance(error, OutputError):
        return unwritten(error)
    for outcome in Outcome:
        if outcome.error is not None and isinstance(error, outcome.error):
            return Result(outcome, str(error))
    return None


def outcome_named(name: object) -> Outcome | None:
    """The outcome of that name, None if there is none such."""
    return next((outcome for outcome in Outcome if outcome.value == name), None)
