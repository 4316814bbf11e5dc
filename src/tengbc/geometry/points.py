"""What a domain hands out, points with weights that carry the measure, and points in sentences."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import OutsideError


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


def point_text(x: Float[np.ndarray, " d"]) -> str:
    """A point as it stands in a sentence: (0.25, -1)."""
    return f"({', '.join(f'{coordinate:.6g}' for coordinate in x)})"


def outside_error(
    x: Float[np.ndarray, "n d"], inside: Bool[np.ndarray, " n"], advice: str = "leave them out"
) -> OutsideError:
    """The error that says how many of the points are outside a domain, and which is the first."""
    return OutsideError(
        f"{np.count_nonzero(~inside)} of {len(x)} points lie outside the domain, the first at "
        f"{point_text(x[np.argmin(inside)])}; {advice}."
    )
