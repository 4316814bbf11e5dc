"""A reference solution known on fixed points at fixed times, where no formula exists."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.errors import OutsideError


@dataclass(frozen=True)
class Reference:
    """Values u(xᵢ, tₖ) of a solution computed elsewhere.

    `times` (k,), `points` (n, d), `samples` (k, n); `source` says where the numbers come from.
    """

    times: Float[np.ndarray, " k"]
    points: Float[np.ndarray, "n d"]
    samples: Float[np.ndarray, "k n"]
    source: str = ""

    def values(self, index: int) -> Float[np.ndarray, " n"]:
        """The values at all points at `times[index]`."""
        return self.samples[index]

    def values_at(self, t: float) -> Float[np.ndarray, " n"]:
        """The values at all points at a stored time t; nothing is interpolated."""
        matches = np.flatnonzero(np.isclose(self.times, t, rtol=1e-12, atol=1e-12))
        if matches.size == 0:
            stored = ", ".join(f"{time:g}" for time in self.times)
            raise OutsideError(
                f"The reference holds no values at t = {t:g} and is not interpolated; "
                f"choose one of its times: {stored}."
            )
        return self.values(int(matches[0]))
