"""One line of history for each step."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Record:
    """What is known after a step: time, fit, boundary, conditioning, and the error if it is known.

    `boundary` holds the root mean square of g(u) on each segment; `error` is the relative L² error
    against the exact solution, `estimate` our own estimate of it. `accepted` and `rejected` count
    the iterations of the step's fits: with none accepted, θ is that of the step before.
    """

    step: int
    time: float
    residual: float
    rank: int
    condition: float
    boundary: dict[str, float] = field(default_factory=dict)
    error: float | None = None
    estimate: float | None = None
    accepted: int = 1
    rejected: int = 0
