"""What a scheme carries from step to step, and a checkpoint has to hold."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class State:
    """θ now, and for multistep schemes what they remember: arrays, newest first."""

    theta: Float[np.ndarray, " p"]
    history: tuple[Float[np.ndarray, "..."], ...] = ()
