"""What a march leaves behind, and its form in a snapshot: all that decides its later bits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from tengbc.history import History
from tengbc.journal import Snapshot
from tengbc.outcome import Outcome, Result
from tengbc.spaces.interface import AbstractSpace, State

Array = np.ndarray


@dataclass
class Trajectory:
    """The last state, the states that were kept, a record per leg, and how it ended.

    `usual_size` is the size of the solution at the start, by which growth is judged; `still` counts
    the last steps that left the parameters as they were. States may differ in length, where
    features are added during a march.
    """

    result: Result
    state: State
    t: float = 0.0
    times: list[float] = field(default_factory=list)
    thetas: list[Float[Array, " p"]] = field(default_factory=list)
    history: History = field(default_factory=History)
    usual_size: float = 0.0
    still: int = 0
    steps: int = 0

    @classmethod
    def begun(cls, state: State, usual_size: float = 0.0, expected: int = 1) -> Trajectory:
        """A march at its start."""
        empty = History(expected=expected)
        return cls(Result(Outcome.DONE), state, 0.0, [0.0], [state.theta], empty, usual_size)

    def keep(self) -> None:
        """Keep the last state, unless it is kept already."""
        if self.times[-1] != self.t:
            self.times.append(self.t)
            self.thetas.append(self.state.theta)

    def snapshot(
        self, space: AbstractSpace, facts: dict | None = None, finished: bool = False
    ) -> Snapshot:
        """θ and the scheme's history, the kept states, the records, what the space remembers."""
        arrays = {
            "theta": self.state.theta,
            **{f"past.{k}": array for k, array in enumerate(self.state.history)},
            "times": np.array(self.times),
            "thetas": np.concatenate(self.thetas),
            "lengths": np.array([len(theta) for theta in self.thetas]),
            "history": self.history.table,
            **{f"space.{name}": array for name, array in space.memory().items()},
        }
        known = {
            "t": self.t,
            "measured": list(self.history.names),
            "usual_size": self.usual_size,
            "still": self.still,
            "steps": self.steps,
            **(facts or {}),
        }
        return Snapshot(arrays, known, finished)


def trajectory_of(
    snapshot: Snapshot, space: AbstractSpace | None = None, expected: int = 1
) -> Trajectory:
    """The march as it was, of so many legs in all, and the space as it was then."""
    arrays, facts = snapshot.arrays, snapshot.facts
    past = []
    while (name := f"past.{len(past)}") in arrays:
        past.append(arrays[name])
    if space is not None:
        space.remember({n[6:]: array for n, array in arrays.items() if n.startswith("space.")})
    ends = np.cumsum(arrays["lengths"])[:-1]
    return Trajectory(
        Result(Outcome.DONE),
        State(arrays["theta"], tuple(past)),
        facts["t"],
        arrays["times"].tolist(),
        np.split(arrays["thetas"], ends),
        History.of_table(facts["measured"], arrays["history"], expected),
        facts["usual_size"],
        facts["still"],
        facts["steps"],
    )
