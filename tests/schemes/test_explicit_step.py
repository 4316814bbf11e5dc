"""One explicit step: its order, trees of arrays, and an integrating factor that stays finite."""

import numpy as np
import pytest

from tengbc.schemes.tableau import EULER, HEUN, RK4, explicit_step


@pytest.mark.parametrize("tableau", [EULER, HEUN, RK4], ids=lambda tableau: tableau.name)
def test_the_order(tableau):
    """y' = y cos t, of which y = exp(sin t) is the solution."""
    errors = []
    for steps in (20, 40):
        y, dt = {"a": np.ones(2), "b": (np.ones(()),)}, 1.0 / steps
        rate = lambda y, t: {"a": y["a"] * np.cos(t), "b": (y["b"][0] * np.cos(t),)}
        for n in range(steps):
            y = explicit_step(tableau, rate, y, n * dt, dt)
        assert np.allclose(y["a"], y["b"][0], rtol=1e-15)
        errors.append(abs(y["a"][0] - np.exp(np.sin(1.0))))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(tableau.order, abs=0.1)
    assert errors[1] < {1: 5e-2, 2: 5e-4, 4: 1e-7}[tableau.order]


def test_a_stiff_linear_part_is_carried_exactly():
    """y' = −cy + cos t: for c = 0 as without it, and for c up to 10⁶ nothing overflows."""
    c = np.array([0.0, 1.0, 1e3, 1e6])
    rate = lambda y, t: np.cos(t) + 0 * y
    carry = lambda y, s: np.exp(-c * s) * y
    y = explicit_step(RK4, rate, np.ones(4), 0.0, 0.1, carry)
    expected = np.exp(-0.1 * c)
    assert y[0] == pytest.approx(1 + np.sin(0.1), abs=1e-7)
    assert np.isfinite(y).all() and (y[2:] < 0.1).all() and (y >= expected).all()
    still = explicit_step(RK4, lambda y, t: 0 * y, np.ones(4), 0.0, 0.1, carry)
    np.testing.assert_array_equal(still, np.exp(-c * 0.1))
