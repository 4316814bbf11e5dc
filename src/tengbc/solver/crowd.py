"""Where features and points have to crowd for the initial values, in any dimension."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks.crowded_waves import crowded_interior
from tengbc.networks.crowding import CrowdedAxes, crowding_for, graded_lengths
from tengbc.problem import Problem
from tengbc.solver.compatibility import QUICK
from tengbc.solver.sampling import initial_values

Array = np.ndarray
LOOKS = 4
"""How often the initial values are looked at, each time at points where the last look says."""
POINTS = 8192
"""Points of each look."""
SLABS = 256
"""Slabs across each axis; in each the steepest point counts."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Crowded coordinates, and how many lengths of the initial values fit along each axis."""

    axes: CrowdedAxes
    richness: Float[np.ndarray, " d"]


def initial_crowd(problem: Problem) -> Crowd:
    """The crowd that suits u₀: along each axis as dense as its steepest point there asks for."""
    domain = problem.domain
    rates = _rates(problem)
    x = domain.interior(POINTS).x
    for _ in range(LOOKS):
        steepness = rates(x)
        lines = [_line(domain, x, steepness, axis) for axis in range(domain.dim)]
        axes = CrowdedAxes(tuple(crowding_for(*line) for line in lines))
        x = crowded_interior(domain, axes, POINTS, 0).x
    richness = np.array([np.trapezoid(1 / length, line) for line, length in lines])
    return Crowd(axes, richness)


def initial_pace(problem: Problem, points: Points) -> float:
    """‖u₀‖/‖L(u₀)‖: the time in which u changes by as much as it is, at first."""
    rate = lambda x: problem.equation.rhs(problem.initial_function, x, 0.0)
    with jax.enable_x64(True):
        rates = np.asarray(jax.jit(jax.vmap(rate), compiler_options=QUICK)(points.x))
    values, weight = initial_values(problem, points), np.sqrt(points.w)[:, None]
    size, speed = (np.linalg.norm(weight * v.reshape(values.shape)) for v in (values, rates))
    return float(size / speed) if np.isfinite(speed) and speed > 0 else np.inf


def _rates(problem: Problem):
    """x ↦ the larger of |∂u₀|/range and √(|∂²u₀|/range) along each axis, over all components."""

    def at_point(x):
        field = lambda y: jnp.atleast_1d(problem.initial_function(y))
        slope = jax.jacfwd(field)
        bend = jax.vmap(jnp.diagonal)(jax.jacfwd(slope)(x))
        return field(x), jnp.abs(slope(x)), jnp.abs(bend)

    at_points = jax.jit(jax.vmap(at_point), compiler_options=QUICK)

    def rates(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        with jax.enable_x64(True):
            value, slope, bend = (np.asarray(part) for part in at_points(x))
        scale = np.ptp(value, axis=0)[:, None]
        scale = np.where(scale > 0, scale, 1.0)
        found = np.maximum(slope / scale, np.sqrt(bend / scale)).max(axis=1)
        return np.where(np.isfinite(found), found, 0.0)  # a kink has no length of its own

    return rates


def _line(
    domain: Domain, x: Float[Array, "n d"], steepness: Float[Array, "n d"], axis: int
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Places along an axis from end to end, and the length that the slab around each asks for."""
    order = np.argsort(x[:, axis])
    slabs = np.array_split(order, SLABS)
    line = np.array([x[slab, axis].mean() for slab in slabs])
    rate = np.array([steepness[slab, axis].max() for slab in slabs])
    first, last = (float(end[axis]) for end in domain.bounds)
    line = np.concatenate([[first], line, [last]])
    return line, graded_lengths(line, np.pad(rate, 1, mode="edge"))
