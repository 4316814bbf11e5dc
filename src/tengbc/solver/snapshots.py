"""A march as a snapshot, and a snapshot as a march: all that decides its later bits."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from tengbc.history import History
from tengbc.journal import Snapshot
from tengbc.outcome import Outcome, Result
from tengbc.schemes import State
from tengbc.solver.marched import Marched

Arrays = dict[str, np.ndarray]


@runtime_checkable
class RemembersArrays(Protocol):
    """A space that changes during a march, such as one that linearises anew now and then."""

    def memory(self) -> Arrays:
        """What it has to be told to be as it is now."""
        ...

    def remember(self, memory: Arrays) -> None:
        """Be as it was when it gave that memory."""
        ...


def march_snapshot(
    marched: Marched, space: object, facts: dict | None = None, finished: bool = False
) -> Snapshot:
    """θ and the scheme's history, the states kept so far, the records, what the space remembers."""
    arrays = {
        "theta": marched.state.theta,
        **{f"past.{k}": array for k, array in enumerate(marched.state.history)},
        "times": np.array(marched.times),
        "thetas": np.array(marched.thetas),
        "history": marched.history.table,
    }
    if isinstance(space, RemembersArrays):
        arrays |= {f"space.{name}": array for name, array in space.memory().items()}
    known = {"measured": list(marched.history.names), "usual_size": marched.usual_size}
    known |= {"still": marched.still, **(facts or {})}
    return Snapshot(arrays, known, finished)


def marched_from(snapshot: Snapshot, space: object = None, steps: int = 1) -> Marched:
    """The march as it was, of so many steps in all, and the space as it was then."""
    arrays = snapshot.arrays
    past = []
    while (name := f"past.{len(past)}") in arrays:
        past.append(arrays[name])
    if isinstance(space, RemembersArrays):
        space.remember({name[6:]: a for name, a in arrays.items() if name.startswith("space.")})
    return Marched(
        Result(Outcome.DONE),
        State(arrays["theta"], tuple(past)),
        arrays["times"].tolist(),
        list(arrays["thetas"]),
        History.of_table(snapshot.facts["measured"], arrays["history"], steps),
        snapshot.facts["usual_size"],
        snapshot.facts["still"],
    )
