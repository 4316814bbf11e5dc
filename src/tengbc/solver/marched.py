"""What a march leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from tengbc.history import History
from tengbc.outcome import Result
from tengbc.schemes import State


@dataclass
class Marched:
    """The last state, the states that were kept, a record per step, and how it ended.

    `usual_size` is the size of the solution at the start, by which growth is judged; `still` counts
    the last steps that left the parameters as they were.
    """

    result: Result
    state: State
    times: list[float] = field(default_factory=list)
    thetas: list[Float[np.ndarray, " p"]] = field(default_factory=list)
    history: History = field(default_factory=History)
    usual_size: float = 0.0
    still: int = 0

    def keep(self, t: float) -> None:
        """Keep the last state, of time t, unless it is kept already."""
        if self.times[-1] != t:
            self.times.append(t)
            self.thetas.append(self.state.theta)
