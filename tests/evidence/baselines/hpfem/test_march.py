"""Radau steps of a semi-discrete system, on systems small enough to know; NGSolve is not needed."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from tengbc.evidence.baselines.hpfem.march import RadauMarch, time_grid


class ThreeRods:
    """M u' = f(t) − K u + N(u) with three unknowns, the last of which is prescribed."""

    free = np.array([True, True, False])
    unknowns = 3
    matrix_changes = False
    mass = scipy.sparse.csr_matrix([[2.0, 0.5, 0.2], [0.5, 2.0, 0.5], [0.2, 0.5, 2.0]])
    stiffness = scipy.sparse.csr_matrix([[2.0, -1.0, 0.0], [-1.5, 2.0, -1.0], [0.0, -1.0, 2.0]])

    def __init__(self, held, load=lambda t: np.zeros(3), cubic=0.0):
        self._held, self.load, self._cubic = held, load, cubic
        self.nonlinear = bool(cubic)

    def matrix(self, t):
        return self.stiffness

    def prescribed(self, t):
        return np.array([0.0, 0.0, self._held(t)])

    def reaction(self, u):
        return -self._cubic * u**3

    def reaction_slope(self, u):
        return scipy.sparse.csr_matrix(np.diag(-3 * self._cubic * u**2))


def last(system, stages, steps, end=1.0, start=(1.0, 2.0)):
    u = np.array([*start, system._held(0.0)])
    march = RadauMarch(system, stages)
    legs = [(0.0, end / steps, steps)]
    return list(march.states(legs, system.mass @ u))[-1][1]


def test_values_that_do_not_change_in_time_give_the_matrix_exponential():
    system = ThreeRods(lambda t: 0.7)
    mass, stiffness = (m.toarray() for m in (system.mass, system.stiffness))
    inside = np.linalg.inv(mass[:2, :2])
    rest = np.linalg.solve(stiffness[:2, :2], -stiffness[:2, 2] * 0.7)
    decay = scipy.linalg.expm(-inside @ stiffness[:2, :2])
    expected = rest + decay @ (np.array([1.0, 2.0]) - rest)
    found = last(system, 5, 20)
    np.testing.assert_allclose(found, [*expected, 0.7], rtol=1e-12)


@pytest.mark.parametrize("stages, cubic", [(2, 0.0), (3, 0.0), (2, 0.8), (3, 0.8)])
def test_the_order_is_that_of_radau_with_moving_data(stages, cubic):
    load = lambda t: np.array([np.sin(3 * t), 1.0, 0.0])
    system = ThreeRods(lambda t: np.cos(4 * t), load, cubic)
    exact = last(system, 5, 160)
    coarse, fine = (np.abs(last(system, stages, n) - exact).max() for n in (10, 20))
    # A prescribed value that moves costs an order or more, as in every collocation method.
    assert np.log2(coarse / fine) > stages + 0.8
    assert fine < 1e-4


def test_a_jump_of_prescribed_values_is_taken_at_once():
    """m = Mu goes on as it was, so that the free unknowns answer to the jump."""
    system = ThreeRods(lambda t: 5.0)
    march = RadauMarch(system, 3)
    before = np.array([1.0, 2.0, 0.0])
    u = march.settled((system.mass @ before)[:2])
    assert u[2] == 5.0
    np.testing.assert_allclose((system.mass @ u)[:2], (system.mass @ before)[:2], rtol=1e-13)


def test_steps_meet_all_times_and_are_graded_at_the_start():
    legs = time_grid([0.0, 0.2, 0.5, 1.0], 0.15, levels=3, per_level=2)
    starts = [start for start, _, _ in legs]
    ends = [start + length * count for start, length, count in legs]
    np.testing.assert_allclose(starts[1:], ends[:-1], rtol=1e-12)
    np.testing.assert_allclose(ends, [0.2 / 64, 0.2 / 16, 0.2 / 4, 0.2, 0.5, 1.0], rtol=1e-12)
    assert max(length for _, length, _ in legs) <= 0.15
    assert [count for _, _, count in legs] == [2, 2, 2, 2, 2, 4]
