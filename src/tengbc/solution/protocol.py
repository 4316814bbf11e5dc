"""What summaries, comparisons and figures need of a solution, whatever solver it comes from."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from tengbc.history import Record
from tengbc.outcome import Result
from tengbc.problem import Problem


@runtime_checkable
class SolutionLike(Protocol):
    """u at points and times, how the run ended, and where its time went."""

    @property
    def problem(self) -> Problem: ...

    @property
    def times(self) -> Float[np.ndarray, " k"]: ...

    @property
    def result(self) -> Result: ...

    @property
    def history(self) -> Sequence[Record]: ...

    @property
    def error_estimate(self) -> Float[np.ndarray, " k"]:
        """At each time; empty if nothing is known."""
        ...

    @property
    def seconds(self) -> dict[str, float]: ...

    @property
    def facts(self) -> dict[str, object]: ...

    def at_times(
        self, x: Float[np.ndarray, "n d"], times: Sequence[float] | np.ndarray
    ) -> Float[np.ndarray, "k n ..."]:
        """u at points x and several times."""
        ...
