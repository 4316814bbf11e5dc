"""From lengths to graded coordinates and points."""

import numpy as np
import pytest

from tengbc.geometry import Disk, Rectangle
from tengbc.networks.adapt import (
    LONGEST,
    SLOPE,
    equispaced_points,
    graded_axis,
    graded_interior,
    graded_lengths,
    lengths,
)
from tengbc.networks.maps import GradedAxes
from tengbc.networks.waves import box_waves, interval_waves


def test_lengths_are_those_of_a_front_and_grow_no_faster_than_allowed():
    x = np.sinh(np.linspace(-6, 6, 4001)) / np.sinh(6)
    width = 0.01
    found = lengths(x, np.tanh(x / width)[:, None])
    # range/|u'| = 2·width at the middle, √(range/|u''|) = √(2/0.77)·width beside it
    assert found.min() == pytest.approx(np.sqrt(2 / (4 / 3 / np.sqrt(3))) * width, rel=0.01)
    assert np.abs(np.diff(found) / np.diff(x)).max() <= SLOPE * (1 + 1e-9)
    assert found.max() <= LONGEST * 2


def test_a_constant_has_the_longest_length_everywhere():
    x = np.linspace(0, 4, 30)
    np.testing.assert_allclose(lengths(x, np.ones((30, 2))), LONGEST * 4)


def test_the_steepest_component_of_a_system_counts():
    x = np.linspace(-1, 1, 2001)
    steep, flat = np.tanh(x / 0.05), 100 * x
    both = lengths(x, np.stack([flat, steep], axis=1))
    np.testing.assert_allclose(both, lengths(x, steep[:, None]))


def test_coordinates_rise_as_the_lengths_say():
    """dξ/dx is in proportion to 1/length, smoothed."""
    x = np.linspace(-1, 1, 2001)
    length = 0.2 + 0.5 * np.abs(x)
    axis = graded_axis(x, length)
    slope = np.gradient(axis.at(x), x)
    assert (slope > 0).all()
    steady = slope * length
    inner = np.abs(x) > 0.3  # the corner of |x| at 0 is rounded off
    assert steady[inner].max() / steady[inner].min() < 1.3


def test_uniform_lengths_leave_x_as_it_is():
    x = np.linspace(2, 5, 100)
    slope = np.gradient(graded_axis(x, np.full(100, 0.7)).at(x), x)
    np.testing.assert_allclose(slope, slope.mean(), rtol=1e-6)


def test_points_are_equispaced_in_the_coordinate_and_carry_the_measure():
    x = np.linspace(-1, 3, 500)
    axis = graded_axis(x, 0.1 + 0.5 * np.abs(x))
    points = equispaced_points(axis, -1.0, 3.0, 40)
    found, weight = points.x[:, 0], points.w
    gaps = np.diff(axis.at(found))
    np.testing.assert_allclose(gaps, gaps.mean(), rtol=1e-9)
    assert weight.sum() == pytest.approx(4.0, rel=1e-14) and (weight > 0).all()
    assert (weight * found**2).sum() == pytest.approx(28 / 3, rel=0.02)  # ∫x² over (−1, 3)


def test_waves_span_a_longer_interval_and_differ_by_seed():
    weight, bias = interval_waves(2.0, 5.0, 7, seed=4)
    period = 2 * np.pi / weight[0, 0]
    assert 1.5 * 3 <= period <= 1.7 * 3
    np.testing.assert_allclose(weight[:, 0] / weight[0, 0], [1, 1, 2, 2, 3, 3, 4])
    middle = np.sin(weight[:, 0] * 3.5 + bias)  # sine and cosine about the middle
    np.testing.assert_allclose(middle, [0, 1, 0, 1, 0, 1, 0], atol=1e-12)
    assert interval_waves(2.0, 5.0, 7, seed=5)[0][0, 0] != weight[0, 0]


def axes(domain, middle, width):
    """Coordinates that are steep around a point."""
    lower, upper = domain.bounds
    lines = [np.linspace(lower[a], upper[a], 400) for a in range(domain.dim)]
    rates = [1 / np.hypot(width, line - middle[a]) for a, line in enumerate(lines)]
    both = zip(lines, rates, strict=True)
    return GradedAxes(tuple(graded_axis(line, graded_lengths(line, rate)) for line, rate in both))


def test_the_density_is_the_derivative_of_the_coordinates():
    domain = Disk()
    graded = axes(domain, (0.3, -0.1), 0.05)
    x, h = domain.interior(50).x * 0.9, 1e-6
    slopes = [(graded.at(x + h * e) - graded.at(x - h * e)) / (2 * h) for e in np.eye(2)]
    expected = slopes[0][:, 0] * slopes[1][:, 1]
    np.testing.assert_allclose(graded.density(x), expected, rtol=1e-5)


@pytest.mark.parametrize("domain", [Disk(), Rectangle((0, 0), (3, 1))])
def test_graded_points_lie_inside_and_carry_the_measure(domain):
    graded = axes(domain, (0.3, 0.2), 0.03)
    points = graded_interior(domain, graded, 4000, 1)
    assert len(points) == 4000 and domain.contains(points.x).all()
    assert points.w.sum() == pytest.approx(domain.measure)
    near = np.linalg.norm(points.x - [0.3, 0.2], axis=1) < 0.1
    assert near.mean() > 4 * np.pi * 0.1**2 / domain.measure  # dense there
    # and integrals come out: that of a peak which 4000 even points would hardly see
    peak = np.exp(-np.sum((points.x - [0.3, 0.2]) ** 2, axis=1) / 0.03**2)
    assert (points.w * peak).sum() == pytest.approx(np.pi * 0.03**2, rel=0.03)


def test_the_axis_with_more_lengths_has_the_shorter_waves():
    domain = Rectangle((0, 0), (1, 1))
    graded = axes(domain, (0.5, 0.5), 10.0)
    even, _ = box_waves(domain, graded, np.array([2.0, 2.0]), 200, 0)
    uneven, _ = box_waves(domain, graded, np.array([20.0, 2.0]), 200, 0)
    ratio = lambda weight: np.abs(weight[:, 0]).max() / np.abs(weight[:, 1]).max()
    assert 0.8 < ratio(even) < 1.25
    assert 8 < ratio(uneven) < 12.5
