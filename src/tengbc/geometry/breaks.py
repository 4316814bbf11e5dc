"""Where on a segment a part of it begins and ends."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks
from tengbc.geometry.faces import Face

Piece = tuple[int, float, float]
"""The number of a face, and the fractions of its length between which a piece of it lies."""
Rule = Callable[[Float[np.ndarray, " d"]], Any]
SAMPLES, LEAST = 1000, 16
"""Steps along a segment in which a rule is asked first, and the least number on each face."""
SLIVER = 1e-6
"""Smaller parts of a face are rounding: of a rule in single precision, or one without corners."""


def spans(chain: Sequence[Face], dim: int, where: Any, name: str) -> list[Piece]:
    """The pieces on which a rule is true, or those between two fractions of a segment's length.

    The segment has `dim` dimensions: one, or none if it is an end of an interval.
    """
    if not callable(where):
        return _between(chain, dim, where, name)
    total = sum(face.measure for face in chain)
    found = []
    for number, face in enumerate(chain):
        steps = max(LEAST, round(SAMPLES * face.measure / total)) if dim else 1
        found += [(number, *span) for span in _true(_along(face, dim, where, name), steps)]
    return found


def snapped(s: float, known: list[float]) -> float:
    """The known fraction that is as good as the same, or `s`, which is known from now on."""
    nearest = min(known, key=lambda other: abs(other - s))
    if abs(nearest - s) > SLIVER:
        known.append(nearest := s)
    return nearest


def _between(chain: Sequence[Face], dim: int, where: Any, name: str) -> list[Piece]:
    start, end = checks.vector(where, f"The place of the part {name!r}", dim=2)
    if not 0 <= start < end <= 1:
        raise ProblemError(
            f"The part {name!r} goes from {start:g} to {end:g} of its segment, but fractions of "
            "its length must grow and lie between 0 and 1."
        )
    if dim == 0 and (start, end) != (0.0, 1.0):
        raise ProblemError(
            f"The part {name!r} is a fraction of a single point; give the fractions 0 and 1."
        )
    measures = np.array([face.measure for face in chain])
    ends = np.concatenate([[0.0], np.cumsum(measures)]) / measures.sum()
    found = []
    for face, (low, high) in enumerate(pairwise(ends.tolist())):
        local = np.clip((np.array([start, end]) - low) / (high - low), 0.0, 1.0)
        if local[0] < local[1]:
            found.append((face, float(local[0]), float(local[1])))
    return found


def _along(face: Face, dim: int, where: Rule, name: str) -> Callable[[float], bool]:
    """A rule as a function of the fraction of a face."""

    def true(s: float) -> bool:
        (x,), _ = face.place(np.full((1, dim), s))
        value = np.asarray(where(x))
        if value.shape != () or value.dtype != bool:
            raise ProblemError(
                f"The rule of the part {name!r} must say True or False of one point x, and at "
                f"{x.tolist()} it says {value!r}; compare numbers, such as x[1] < 0.5."
            )
        return bool(value)

    return true


def _true(rule: Callable[[float], bool], steps: int) -> list[tuple[float, float]]:
    """Where a rule is true on [0, 1]: sampled, bisected, and mended where a sliver interrupts."""
    samples = np.linspace(0.0, 1.0, steps + 1).tolist()
    values = [rule(s) for s in samples]
    changes = [
        _bisected(rule, low, high, values[index])
        for index, (low, high) in enumerate(pairwise(samples))
        if values[index] != values[index + 1]
    ]
    limits = [*([0.0] if values[0] else []), *changes, *([1.0] if values[-1] else [])]
    found: list[tuple[float, float]] = []
    for start, end in zip(limits[::2], limits[1::2], strict=True):
        if found and start - found[-1][1] <= SLIVER:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return [(start, end) for start, end in found if end - start > SLIVER]


def _bisected(rule: Callable[[float], bool], low: float, high: float, before: bool) -> float:
    """Where the rule changes between two fractions, to round-off."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if rule(middle) == before else (low, middle)
    return high
