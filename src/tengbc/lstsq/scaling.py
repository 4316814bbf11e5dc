"""Powers of two taken out of an array, which costs no digits."""

import numpy as np
from jaxtyping import Inexact

Array = np.ndarray


def scaled(array: Inexact[Array, "..."]) -> tuple[Inexact[Array, "..."], int]:
    """array · 2⁻ᵏ and k; k = 0 unless squares of its largest entry might overflow or vanish."""
    with np.errstate(over="ignore", under="ignore"):
        ordinary = 1e-60 < np.linalg.norm(array) < 1e60
    if ordinary:  # nothing is copied then
        return array, 0
    largest = np.max(np.abs(_real_parts(array)), initial=0.0)
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return shifted(array, -exponent), exponent


def shifted(array: Inexact[Array, "..."], exponent: int) -> Inexact[Array, "..."]:
    """array · 2ᵏ, infinite where that is too large for floating point."""
    if exponent == 0:
        return array
    with np.errstate(over="ignore", under="ignore"):
        moved = np.ldexp(_real_parts(array), exponent)
    return moved.view(array.dtype) if np.iscomplexobj(array) else moved


def _real_parts(array: Inexact[Array, "..."]) -> Array:
    """Real and imaginary parts side by side; a real array as it is."""
    if not np.iscomplexobj(array):
        return array
    return np.ascontiguousarray(array).view(np.finfo(array.dtype).dtype)
