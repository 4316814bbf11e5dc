"""What a solver writes down while it is under way, so that a run can be taken up again.

A run is a sequence of named stages: a fit, a march. A solver that wants to survive does this:

    stage = journal.stage("march")
    before = stage.recall()                  # None, or the last snapshot: begin from there
    for each step:
        …
        stage.note(record)                   # a line of history
        stage.offer(lambda: Snapshot(…))     # written down if it is time; costs nothing otherwise
        if stage.stopping: end as interrupted
    stage.finish(Snapshot(…))                # a finished stage is recalled whole

What is cheap and follows from the options (points, features, matrices) is computed again and has no
place in a snapshot. All that decides later bits has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from tengbc.history import Record


LOOK = 0.05
"""Seconds between two looks of a march at its journal: a step may take a thousandth of that."""


def never() -> bool:
    """Nobody asks for an end."""
    return False


@dataclass(frozen=True)
class Snapshot:
    """A stage at one moment: named arrays, and facts in terms of JSON."""

    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = False


@runtime_checkable
class Stage(Protocol):
    """One part of a run, and what is written down of it."""

    @property
    def name(self) -> str:
        """Its name, which is also the column `march` of its lines of history."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether the run was asked to end: finish the step at hand, offer it, and return."""
        ...

    @property
    def seconds_before(self) -> float:
        """Seconds that earlier sessions spent in this stage."""
        ...

    @property
    def interval(self) -> float:
        """Seconds between two looks at whether anything is to be written, or the run to end."""
        ...

    def recall(self) -> Snapshot | None:
        """The last snapshot of this stage, None if there is none."""
        ...

    def note(self, record: Record) -> None:
        """A line of history."""
        ...

    def offer(self, snapshot: Callable[[], Snapshot]) -> None:
        """Offer the state after a step; it is asked for only if it is to be written."""
        ...

    def finish(self, snapshot: Snapshot) -> None:
        """The stage is over; its outcome is kept for the rest of the run."""
        ...


@runtime_checkable
class Journal(Protocol):
    """Where the stages of a run are written down."""

    def stage(self, name: str, over: Callable[[], bool] = never) -> Stage:
        """The stage of that name, which is also asked to end once `over` says so."""
        ...


@dataclass(frozen=True)
class _Nothing:
    """A stage of which nothing is written down."""

    name: str = "march"
    asked: Callable[[], bool] = never
    seconds_before: float = 0.0

    @property
    def interval(self) -> float:
        return LOOK

    @property
    def stopping(self) -> bool:
        return self.asked()

    def recall(self) -> Snapshot | None:
        return None

    def note(self, record: Record) -> None:
        pass

    def offer(self, snapshot: Callable[[], Snapshot]) -> None:
        pass

    def finish(self, snapshot: Snapshot) -> None:
        pass


class NoJournal:
    """Nothing is written down; `stopping` tells whether the run was asked to end."""

    def __init__(self, stopping: Callable[[], bool] = never):
        self._stopping = stopping

    def stage(self, name: str, over: Callable[[], bool] = never) -> Stage:
        return _Nothing(name, lambda: self._stopping() or over())


NO_STAGE: Stage = _Nothing()
NO_JOURNAL: Journal = NoJournal()
