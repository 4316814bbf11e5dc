"""A curve in one line of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int = 32) -> str:
    """Bars on a logarithmic scale, the largest value of each of `width` equal parts.

    Values that are not positive and finite are left blank. Within one factor of two all bars are
    low: noise does not look like growth.
    """
    count = min(width, len(values))
    parts = [
        [value for value in part if 0 < value < math.inf]
        for part in (
            values[k * len(values) // count : (k + 1) * len(values) // count] for k in range(count)
        )
    ]
    logs = [math.log10(max(part)) if part else None for part in parts]
    known = [value for value in logs if value is not None]
    if not known:
        return ""
    low = min(known)
    span = max(max(known) - low, math.log10(2.0) * len(BARS))
    return "".join(
        " " if value is None else BARS[min(int((value - low) / span * len(BARS)), len(BARS) - 1)]
        for value in logs
    )
