"""Interpolation in time: exact for polynomials, and a stored time is taken as it is."""

from itertools import pairwise

import numpy as np
import pytest

from tengbc.interpolation import lagrange_weights, neighbours, within_step
from tengbc.schemes.radau import radau_nodes


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


@pytest.mark.parametrize("stages", [3, 5])
def test_within_a_step_the_polynomial_through_its_stages(stages):
    """Another polynomial of degree `stages` in each step: each is met, and none across its end."""
    nodes = np.append(0.0, radau_nodes(stages))
    ends = np.array([0.0, 0.3, 0.4, 1.1])
    times = np.concatenate([[0.0], *(a + (b - a) * nodes[1:] for a, b in pairwise(ends))])
    times[stages::stages] = ends[1:]
    for k, (a, b) in enumerate(pairwise(ends)):
        values = lambda t, k=k, a=a: (1 + k) * (t - a) ** stages + t
        for t in (a + 0.01, (a + b) / 2, b - 1e-4):
            chosen, weights = within_step(times, float(t), stages)
            assert chosen.tolist() == list(range(k * stages, (k + 1) * stages + 1))
            assert weights @ values(times[chosen]) == pytest.approx(values(t), abs=1e-13)
    for k, t in enumerate(times):
        chosen, weights = within_step(times, float(t), stages)
        assert chosen.tolist() == [k] and weights.tolist() == [1.0]
