"""Coordinates that crowd: lengths, maps and points."""

import numpy as np
import pytest

from tengbc.networks.crowded_waves import interval_waves
from tengbc.networks.crowding import LONGEST, SLOPE, crowded_points, crowding_for, lengths


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
    crowding = crowding_for(x, length)
    slope = np.gradient(crowding.at(x), x)
    assert (slope > 0).all()
    steady = slope * length
    inner = np.abs(x) > 0.3  # the corner of |x| at 0 is rounded off
    assert steady[inner].max() / steady[inner].min() < 1.3


def test_uniform_lengths_leave_x_as_it_is():
    x = np.linspace(2, 5, 100)
    slope = np.gradient(crowding_for(x, np.full(100, 0.7)).at(x), x)
    np.testing.assert_allclose(slope, slope.mean(), rtol=1e-6)


def test_points_are_equispaced_in_the_coordinate_and_carry_the_measure():
    x = np.linspace(-1, 3, 500)
    crowding = crowding_for(x, 0.1 + 0.5 * np.abs(x))
    found, weight = crowded_points(crowding, -1.0, 3.0, 40)
    gaps = np.diff(crowding.at(found))
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
