"""What a domain hands out: points with weights that carry the measure."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Points:
    """Interior points `x` with weights `w`: ∫_Ω f ≈ Σ wᵢ f(xᵢ), so Σ w = |Ω|."""

    x: Float[np.ndarray, "n d"]
    w: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True, eq=False)
class BoundaryPoints:
    """Points of one boundary segment Γ with outward unit normals and weights, Σ w = |Γ|."""

    x: Float[np.ndarray, "n d"]
    w: Float[np.ndarray, " n"]
    normal: Float[np.ndarray, "n d"]
    segment: str

    def __len__(self) -> int:
        return len(self.x)
