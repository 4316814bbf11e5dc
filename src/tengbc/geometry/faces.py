"""Smooth pieces of a boundary, and points on a chain of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from jaxtyping import Float, Int

from tengbc.geometry import grids, quadrature, sequences


@dataclass(frozen=True, eq=False)
class Face:
    """A smooth piece of boundary as the image of the unit cube [0, 1]^(d−1).

    `place(s) → (x, normal)` preserves the measure, so any rule for the cube serves the face:
    `uniform(n) → s` is the regular one, `gauss(order) → (s, weights of sum one)` the accurate one.
    `straight` is true of a point, a straight edge and a flat face, and of these only.
    """

    measure: float
    place: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    uniform: Callable[[int], np.ndarray]
    gauss: Callable[[int], tuple[np.ndarray, np.ndarray]]
    straight: bool = False


def flat(corner: np.ndarray, sides: np.ndarray, normal: np.ndarray) -> Face:
    """The image of corner + s·sides, sides orthogonal: a point, an edge or a face of a box."""
    corner, normal = np.asarray(corner, dtype=float), np.asarray(normal, dtype=float)
    extents = [float(extent) for extent in np.linalg.norm(sides, axis=1)]
    measure = prod(extents)

    def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return corner + s @ sides, np.tile(normal, (len(s), 1))

    def uniform(n: int) -> np.ndarray:
        counts = grids.counts_for(n, extents, measure)
        return grids.cell_centres(np.zeros(len(counts)), np.ones(len(counts)), counts)

    def gauss(order: int) -> tuple[np.ndarray, np.ndarray]:
        return quadrature.product([quadrature.interval(order)] * len(extents))

    return Face(measure, place, uniform, gauss, straight=True)


def triangle(corners: Float[np.ndarray, "3 3"]) -> Face:
    """A triangle in space, seen from outside: c₀ + √s₁·(c₁ − c₀ + s₂·(c₂ − c₁))."""
    first, second = corners[1] - corners[0], corners[2] - corners[1]
    normal = np.cross(first, second)
    measure = float(np.linalg.norm(normal)) / 2
    normal = normal / (2 * measure)

    def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = corners[0] + np.sqrt(s[:, :1]) * (first + s[:, 1:] * second)
        return x, np.tile(normal, (len(s), 1))

    def uniform(n: int) -> np.ndarray:
        return sequences.low_discrepancy(n, 2, 0)

    def gauss(order: int) -> tuple[np.ndarray, np.ndarray]:
        rules = [quadrature.interval(order + 1), quadrature.interval(order)]
        s, weights = quadrature.product(rules)
        return np.stack([s[:, 0] ** 2, s[:, 1]], axis=1), 2 * s[:, 0] * weights

    return Face(measure, place, uniform, gauss, straight=True)


def seen_from_outside(face: Face) -> Face:
    """The same place with the opposite normal: the edge of a hole."""

    def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, normal = face.place(s)
        return x, -normal

    return replace(face, place=place)


def part(face: Face, start: float, end: float) -> Face:
    """The piece of a plane curve between two fractions of its length, backwards if start > end."""

    def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return face.place((1 - s) * start + s * end)  # both ends exactly: pieces meet

    def uniform(n: int) -> np.ndarray:
        return grids.cell_centres(np.zeros(1), np.ones(1), [n])

    def gauss(order: int) -> tuple[np.ndarray, np.ndarray]:
        rule = quadrature.interval(order) if face.straight else quadrature.angle(order, turn(piece))
        return quadrature.product([rule])

    piece = Face(abs(end - start) * face.measure, place, uniform, gauss, face.straight)
    return piece


def turn(face: Face) -> float:
    """The angle ∫ |κ| by which a plane curve turns on its way."""
    if face.straight:
        return 0.0
    _, normal = face.place(np.linspace(0.0, 1.0, 65)[:, None])
    (ax, ay), (bx, by) = normal[:-1].T, normal[1:].T
    return float(np.abs(np.arctan2(ax * by - ay * bx, ax * bx + ay * by)).sum())


def ends(face: Face) -> Float[np.ndarray, "2 2"]:
    """Where a plane curve begins and where it ends."""
    return face.place(np.array([[0.0], [1.0]]))[0]


def loop(pieces: Sequence[Face], size: float) -> tuple[Face, ...] | None:
    """Plane curves head to tail, turned round where needed; None: not one closed curve."""

    def meet(x: np.ndarray, y: np.ndarray) -> bool:
        return bool(np.linalg.norm(x - y) <= 1e-9 * size)

    left = [(face, *ends(face)) for face in pieces]
    if not left:
        return None
    face, start, end = left.pop(0)
    chain = [face]
    while left:
        following = [meet(first, end) or meet(last, end) for _, first, last in left]
        if meet(start, end) or True not in following:
            return None
        face, first, last = left.pop(following.index(True))
        ahead = meet(first, end)
        chain.append(face if ahead else part(face, 1.0, 0.0))
        end = last if ahead else first
    return tuple(chain) if meet(start, end) else None


def split(
    fraction: Float[np.ndarray, " n"], measures: Float[np.ndarray, " k"]
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Which of k pieces a fraction of their total falls in, and the fraction of that piece."""
    ends = np.cumsum(measures) / np.sum(measures)
    index = np.searchsorted(ends[:-1], fraction, side="right")
    starts = np.concatenate([[0.0], ends[:-1]])
    return index, np.clip((fraction - starts[index]) / (ends - starts)[index], 0.0, 1.0)


def equispaced(n: int, measures: Float[np.ndarray, " k"]) -> Float[np.ndarray, "n 1"]:
    """n equispaced fractions of a chain of edges, cell-centred unless that would hit a corner.

    A corner has no normal. Where a centred point would meet one, all points move along by the part
    of a cell that keeps them farthest from every corner.
    """
    corners = (np.cumsum(measures)[:-1] / np.sum(measures) * n) % 1.0
    phases = np.concatenate([[0.5], (np.arange(32) + 0.5) / 32])
    apart = np.abs((phases[:, None] - corners + 0.5) % 1.0 - 0.5).min(axis=1, initial=0.5)
    phase = 0.5 if apart[0] > 1e-3 else phases[np.argmax(apart)]
    return ((np.arange(n) + phase) / n)[:, None]


def uniform(faces: Sequence[Face], n: int) -> Float[np.ndarray, "n s"]:
    """Regular parameters for a whole segment; n exactly on curves, about n on surfaces."""
    if len(faces) == 1:
        return faces[0].uniform(n)
    if faces[0].uniform(1).shape[1] > 1:
        return sequences.low_discrepancy(n, faces[0].uniform(1).shape[1], 0)
    return equispaced(n, np.array([face.measure for face in faces]))


def place(
    faces: Sequence[Face], s: Float[np.ndarray, "n s"]
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d"]]:
    """Points and normals of a whole segment; the first parameter runs along its faces."""
    if len(faces) == 1:
        return faces[0].place(s)
    index, local = split(s[:, 0], np.array([face.measure for face in faces]))
    s = np.concatenate([local[:, None], s[:, 1:]], axis=1)
    order = np.argsort(index, kind="stable")
    used, starts = np.unique(index[order], return_index=True)
    x, normal = np.empty((2, len(s), s.shape[1] + 1))
    for face, rows in zip(used, np.split(order, starts[1:]), strict=True):
        x[rows], normal[rows] = faces[face].place(s[rows])
    return x, normal
