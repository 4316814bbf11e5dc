"""Numbers as people read them, and arrays as text that the page's script reads."""

import base64
import math
from typing import Any

import numpy as np
from jaxtyping import Float

NARROW = "\N{NO-BREAK SPACE}"
LARGEST, MISSING = 32767, -32768
"""Arrays are stored in 16 bits a number, scaled by the largest of its frame."""
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | int | None, digits: int = 2) -> str:
    """A few digits: 0.25, 1,200, 2.3 × 10⁻¹²; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:,.{digits}g}".replace("-", "−") if abs(value) < 1e3 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPTS)}"
    if float(mantissa) == 1:
        return power
    return f"{mantissa} × {power}".replace("-", "−").replace(" ", NARROW)


def duration(seconds: float | None) -> str:
    """0.82 s, 21 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= 0.01 else f"{1000 * seconds:.1g} ms"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 120:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


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


def bytes_as_text(values: np.ndarray) -> str:
    """Bytes (0 to 255) in base 64."""
    return base64.b64encode(values.astype(np.uint8).tobytes()).decode("ascii")
