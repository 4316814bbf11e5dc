"""From length scales to a graded map: where u is steep, coordinates and points lie close together.

The same code serves initial values in any dimension, by their derivatives, and a solution during
its march on an interval, by its values.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.geometry import sequences
from tengbc.geometry.domain import Domain
from tengbc.geometry.points import Points
from tengbc.networks.maps import GradedAxes, GradedAxis
from tengbc.programs import Vectorised
from tengbc.types import Field

Array = np.ndarray
MIRRORED = 12
"""Centres beyond each end, so that the map does not flatten out there."""
CENTRES = 24
"""Centres inside: enough for a few fronts, few enough to leave ξ smooth."""
SMOOTHING = 2.0
"""Widths per distance of the centres: the map is smooth on the scale of the waves in ξ."""
SLOPE = 0.5
"""How fast lengths may grow along x: a front is approached step by step."""
LONGEST = 0.5
"""No length is longer than this part of the axis."""
LOOKS = 4
"""How often a field is looked at, each time at points where the last look says it is steep."""
LOOK_POINTS = 8192
"""Points of each look."""
SLABS = 256
"""Slabs across each axis; in each the steepest point counts."""
LINE = 4000
"""Places on an axis between which graded points are interpolated."""


def lengths(x: Float[Array, " n"], values: Float[Array, "n m"]) -> Float[Array, " n"]:
    """The length on which values change by as much as they range, at ascending points.

    The smaller of range/|u'| and √(range/|u''|), over all components, graded (`graded_lengths`).
    """
    slope = np.gradient(values, x, axis=0)
    curvature = np.gradient(slope, x, axis=0)
    return graded_lengths(x, steepness(values, np.abs(slope), np.abs(curvature)).max(axis=1))


def steepness(
    values: Float[Array, "n m"], slope: Float[Array, "n m ..."], curvature: Float[Array, "n m ..."]
) -> Float[Array, "n m ..."]:
    """The larger of |u'|/range and √(|u''|/range): one over a length."""
    scale = np.ptp(values, axis=0)
    scale = np.where(scale > 0, scale, 1.0).reshape(1, -1, *[1] * (slope.ndim - 2))
    found = np.maximum(slope / scale, np.sqrt(curvature / scale))
    return np.where(np.isfinite(found), found, 0.0)  # a kink has no length of its own


def graded_lengths(x: Float[Array, " n"], rate: Float[Array, " n"]) -> Float[Array, " n"]:
    """Lengths of 1/rate at most, that grow by no more than SLOPE along x.

    So what surrounds a front is resolved too.
    """
    found = 1 / np.maximum(rate, 1 / (LONGEST * (x[-1] - x[0])))
    # min over y of length(y) + SLOPE·|x − y|, from the left and from the right
    rising = np.minimum.accumulate(found - SLOPE * x) + SLOPE * x
    return np.minimum.accumulate((rising + SLOPE * x)[::-1])[::-1] - SLOPE * x


def graded_axis(x: Float[Array, " n"], length: Float[Array, " n"]) -> GradedAxis:
    """The coordinate in which a given length is about the same everywhere, from end to end of x."""
    density = (1 / length[1:] + 1 / length[:-1]) / 2
    total = np.concatenate([[0.0], np.cumsum(density * np.diff(x))])
    inside = np.interp((np.arange(CENTRES) + 0.5) / CENTRES, total / total[-1], x)
    left, right = 2 * x[0] - inside[:MIRRORED][::-1], 2 * x[-1] - inside[-MIRRORED:][::-1]
    centre = np.concatenate([left, inside, right])
    distance = np.log(np.gradient(centre))
    smooth = np.convolve(np.pad(distance, 1, mode="edge"), [0.25, 0.5, 0.25], "valid")
    return GradedAxis(centre, SMOOTHING * np.exp(smooth))


def axes_of_field(domain: Domain, field: Field) -> tuple[GradedAxes, Float[Array, " d"]]:
    """The graded axes that suit a field, and how many of its lengths fit along each.

    Along each axis they are as dense as the steepest point there asks for.
    """
    rates = _steepness_of(field)
    x = domain.interior(LOOK_POINTS).x
    for _ in range(LOOKS):
        found = rates(x)
        lines = [_line(domain, x, found, axis) for axis in range(domain.dim)]
        axes = GradedAxes(tuple(graded_axis(*line) for line in lines))
        x = graded_interior(domain, axes, LOOK_POINTS, 0).x
    return axes, np.array([np.trapezoid(1 / length, line) for line, length in lines])


def _steepness_of(field: Field) -> Callable[[Float[Array, "n d"]], Float[Array, "n d"]]:
    """x ↦ one over the length of a field along each axis, by its derivatives."""

    def at_point(x):
        value = lambda y: jnp.atleast_1d(field(y))
        slope = jax.jacfwd(value)
        curvature = jax.vmap(jnp.diagonal)(jax.jacfwd(slope)(x))
        return value(x), jnp.abs(slope(x)), jnp.abs(curvature)

    at_points = Vectorised(at_point)

    def rates(x: Float[Array, "n d"]) -> Float[Array, "n d"]:
        return steepness(*at_points(x)).max(axis=1)

    return rates


def _line(
    domain: Domain, x: Float[Array, "n d"], rates: Float[Array, "n d"], axis: int
) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Places along an axis from end to end, and the length that the slab around each asks for."""
    slabs = np.array_split(np.argsort(x[:, axis]), SLABS)
    line = np.array([x[slab, axis].mean() for slab in slabs])
    rate = np.array([rates[slab, axis].max() for slab in slabs])
    first, last = (float(end[axis]) for end in domain.bounds)
    line = np.concatenate([[first], line, [last]])
    return line, graded_lengths(line, np.pad(rate, 1, mode="edge"))


def equispaced_points(axis: GradedAxis, start: float, end: float, count: int) -> Points:
    """Points of an interval, equispaced in ξ, and the length each stands for."""
    low, high = axis.at(np.array([start, end]))
    wanted = low + (high - low) * np.arange(2 * count + 1) / (2 * count)
    left, right = np.full(len(wanted), start), np.full(len(wanted), end)
    for _ in range(60):  # bisection: to the last bit, however steep the map is
        middle = (left + right) / 2
        below = axis.at(middle) < wanted
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    left[0], left[-1] = start, end
    return Points(left[1::2][:, None], np.diff(left[::2]))


def graded_interior(domain: Domain, axes: GradedAxes, count: int, seed: int) -> Points:
    """Points of a domain as dense as the coordinates, with weights that carry the measure."""
    lower, upper = (np.asarray(end) for end in domain.bounds)
    lines = np.linspace(lower, upper, LINE)
    # Places are moved to where the map is steep: equidistant ones would follow it too coarsely.
    for _ in range(3):
        xi = axes.at(lines)
        even = np.linspace(0, 1, LINE)[:, None] * (xi[-1] - xi[0]) + xi[0]
        lines = _along_axes(even, xi, lines)
    xi = axes.at(lines)
    found, have, start = [], 0, 0
    while have < count:
        unit = sequences.low_discrepancy(2 * count, domain.dim, seed, start)
        x = _along_axes(xi[0] + unit * (xi[-1] - xi[0]), xi, lines)
        inside = x[domain.contains(x)]
        found.append(inside)
        have, start = have + len(inside), start + 2 * count
    x = np.concatenate(found)[:count]
    weight = 1 / axes.density(x)
    return Points(x, weight * (domain.measure / weight.sum()))


def _along_axes(wanted: Float[Array, "n d"], xi: Float[Array, "k d"], x: Float[Array, "k d"]):
    """Piecewise linear interpolation of x(ξ), axis by axis."""
    both = zip(wanted.T, xi.T, x.T, strict=True)
    return np.stack([np.interp(*given) for given in both], axis=1)
