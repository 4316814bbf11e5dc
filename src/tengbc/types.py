"""Shapes and kinds that many signatures share: a point, a field's value, a field."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from jax import Array
from jaxtyping import Float, Real

Point: TypeAlias = Real[Array | np.ndarray, " d"]
"""One point of ℝᵈ."""

Value: TypeAlias = Float[Array | np.ndarray, "..."] | np.floating
"""What a field returns: shape () for a scalar field, (m,) for a system."""

Time: TypeAlias = int | float | Float[Array | np.ndarray, ""] | np.floating
"""One instant."""

Field: TypeAlias = Callable[..., Value]
"""A pointwise field u: ℝᵈ → ℝ or ℝᵐ; many points at once are `jax.vmap`'s business."""

Progress: TypeAlias = Callable[[str, float, dict], object]
"""Hears of progress: phase, fraction done, what is known so far; True asks to stop there."""
