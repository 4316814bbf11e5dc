"""Polar coordinates: what the disk, the annulus and the sector share."""

import numpy as np
from jaxtyping import Float

from tengbc.geometry import quadrature
from tengbc.geometry.faces import Face

TURN = 2 * np.pi


def direction(angle: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
    """The unit vector (cos, sin) of each angle."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def spread(
    u: Float[np.ndarray, "n 2"], inner: float, outer: float, start: float = 0.0, span: float = TURN
) -> Float[np.ndarray, "n 2"]:
    """The unit square onto a sector about the origin, preserving area: r² is linear in u₁."""
    radius = np.sqrt(inner**2 + u[:, 0] * (outer**2 - inner**2))
    return radius[:, None] * direction(start + span * u[:, 1])


def angles(order: int, span: float) -> quadrature.Rule:
    """The integration rule of an arc, in fractions of it."""
    return quadrature.circle(order) if span == TURN else quadrature.angle(order, span)


def arc(
    center: np.ndarray, radius: float, outward: float, start: float = 0.0, span: float = TURN
) -> Face:
    """An arc as a face with normal `outward`·e_r; without `start` and `span`, the whole circle."""

    def place(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        normal = direction(start + span * s[:, 0])
        return center + radius * normal, outward * normal

    def uniform(n: int) -> np.ndarray:
        return ((np.arange(n) + (0.0 if span == TURN else 0.5)) / n)[:, None]

    def rule(order: int) -> tuple[np.ndarray, np.ndarray]:
        s, weights = angles(order, span)
        return s[:, None], weights

    return Face(radius * span, place, uniform, rule)
