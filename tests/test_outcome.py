"""A failure is a value with a sentence in it, and the exception that says the same."""

import pytest

from tengbc.errors import (
    DivergedError,
    LostProcessError,
    NonFiniteError,
    OutputError,
    ToleranceError,
)
from tengbc.outcome import Outcome, Result

ERRORS = {
    Outcome.DONE: None,
    Outcome.INTERRUPTED: None,
    Outcome.OUT_OF_TIME: None,
    Outcome.DIVERGED: DivergedError,
    Outcome.NON_FINITE: NonFiniteError,
    Outcome.STALLED: DivergedError,
    Outcome.OUT_OF_SPACE: OutputError,
    Outcome.NOT_WRITTEN: OutputError,
    Outcome.TOLERANCE_NOT_REACHED: ToleranceError,
    Outcome.LOST_PROCESS: LostProcessError,
}


@pytest.mark.parametrize("outcome", Outcome)
def test_results(outcome):
    result = Result(outcome, "because of this.")
    error, kind = result.error(), ERRORS[outcome]
    assert bool(result) is (outcome is Outcome.DONE)
    assert str(result) == f"{outcome.value}: because of this."
    assert str(Result(outcome)) == outcome.value
    if kind is None:
        assert error is None
    else:
        assert type(error) is kind and str(error) == "because of this."
        codes = {ToleranceError: 6, OutputError: 5, LostProcessError: 7}
        assert error.exit_code == codes.get(kind, 3)
