"""Burgers on a line with its Cole–Hopf solution: the classic test of a front that forms."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import tengbc as tb

NU = 0.01 / np.pi


def problem() -> tb.Problem:
    """The equation, the ends and the start."""
    return tb.Problem(
        tb.Interval(-1.0, 1.0),
        tb.Burgers(NU),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: -jnp.sin(jnp.pi * x[0]),
    )


def exact(x: Float[np.ndarray, " n"], t: float) -> Float[np.ndarray, " n"]:
    """−∫ sin(πy)·h dη / ∫ h dη, y = x − η, h the heat kernel times u₀'s potential: Cole–Hopf."""
    node, weight = np.polynomial.hermite.hermgauss(200)
    y = x[:, None] - node * np.sqrt(4 * NU * t)
    power = -np.cos(np.pi * y) / (2 * np.pi * NU)
    heat = np.exp(power - power.max(axis=1, keepdims=True)) * weight
    return -(np.sin(np.pi * y) * heat).sum(axis=1) / heat.sum(axis=1)


def error(solution: tb.Solution, t: float) -> float:
    """Relative L² error at time t, with points that are dense at the front."""
    x = np.sinh(np.linspace(-6, 6, 3001)) / np.sinh(6)
    weight, truth = np.gradient(x), exact(x, t)
    wrong = solution(x[:, None], t) - truth
    return float(np.sqrt((weight * wrong**2).sum() / (weight * truth**2).sum()))
