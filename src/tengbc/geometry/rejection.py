"""Evenly spread points in a domain of any shape: those of its bounding box that fall inside."""

from collections.abc import Callable
from math import ceil

import numpy as np
from jaxtyping import Bool, Float

from tengbc.geometry import sequences


def rejection(
    inside: Callable[[Float[np.ndarray, "n d"]], Bool[np.ndarray, " n"]],
    lower: Float[np.ndarray, " d"],
    upper: Float[np.ndarray, " d"],
    share: float,
    n: int,
    seed: int,
) -> Float[np.ndarray, "n d"]:
    """The first n points of a low-discrepancy sequence of the box that are `inside`.

    `share` is the part of the box's measure that the domain fills; it sizes the batches.
    """
    kept: list[np.ndarray] = []
    found = tried = 0
    while found < n:
        batch = ceil(1.05 * (n - found) / share) + 16
        u = sequences.low_discrepancy(batch, len(lower), seed, start=tried)
        x = lower + u * (upper - lower)
        kept.append(x[inside(x)])
        found += len(kept[-1])
        tried += batch
    return np.concatenate(kept)[:n]
