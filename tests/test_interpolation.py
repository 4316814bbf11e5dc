"""Interpolation in time: exact for polynomials, and a stored time is taken as it is."""

import numpy as np
import pytest

from tengbc.interpolation import lagrange_weights, neighbours


def test_lagrange_weights():
    nodes = np.array([0.0, 0.3, 0.7, 1.5])
    for degree in range(4):
        assert lagrange_weights(nodes, 0.9) @ nodes**degree == pytest.approx(0.9**degree)
    np.testing.assert_allclose(lagrange_weights(nodes, 0.7), [0, 0, 1, 0], atol=1e-15)


def test_neighbours_surround_the_time_and_stay_within_the_stored_ones():
    times = np.linspace(0.0, 2.0, 21)
    chosen, weights = neighbours(times, 0.73, 6)
    assert chosen.tolist() == [5, 6, 7, 8, 9, 10]
    assert weights @ times[chosen] ** 5 == pytest.approx(0.73**5)
    assert neighbours(times, 0.01, 6)[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert neighbours(times, 1.99, 6)[0].tolist() == [15, 16, 17, 18, 19, 20]
    chosen, weights = neighbours(times, float(times[7]) + 1e-15, 6)
    assert chosen.tolist() == [7] and weights.tolist() == [1.0]
