"""Arrays as text: 16 bits a number, scaled by the largest of its frame."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from jaxtyping import Float

LARGEST = 32767
MISSING = -32768


def encoded(values: Float[np.ndarray, "k n"]) -> dict[str, Any]:
    """Frames of values as scale·q / 32767 with q whole; what is not finite is marked as missing.

    Rounding moves a value by at most 1.6·10⁻⁵ of the largest in its frame, which no eye sees.
    """
    known = np.isfinite(values)
    scales = np.max(np.abs(values), axis=1, initial=0.0, where=known)
    scaled = np.where(known, values, 0.0) / np.where(scales > 0, scales, 1.0)[:, None]
    whole = np.where(known, np.rint(LARGEST * scaled), MISSING).astype("<i2")
    return {
        "scales": [float(scale) for scale in scales],
        "numbers": base64.b64encode(whole.tobytes()).decode("ascii"),
    }


def decoded(packed: dict[str, Any]) -> Float[np.ndarray, "k n"]:
    """The values again, NaN where they are missing: what the page's script does."""
    scales = np.array(packed["scales"])
    whole = np.frombuffer(base64.b64decode(packed["numbers"]), "<i2").reshape(len(scales), -1)
    return np.where(whole == MISSING, np.nan, whole * (scales[:, None] / LARGEST))


def bytes_as_text(values: np.ndarray) -> str:
    """Bytes (0 to 255) in base 64."""
    return base64.b64encode(values.astype(np.uint8).tobytes()).decode("ascii")


def plain(value: Any, digits: int = 6) -> Any:
    """Numbers for strict JSON: NaN and infinity become None, the rest keeps `digits` digits."""
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item, digits) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item, digits) for key, item in value.items()}
    return value
