"""The written-out Bessel functions and zeros against SciPy's."""

import pytest
import scipy.special

from tengbc.problems.bessel import ZEROS, ZEROS_OF_DERIVATIVE, bessel_j
from tengbc.problems.heat_robin import LAMBDA


@pytest.mark.parametrize("order", [0, 1, 2, 5, 10])
def test_values(order):
    for x in (0.0, 0.5, 4.0, 14.8, 60.0):
        assert bessel_j(order, x) == pytest.approx(scipy.special.jv(order, x), abs=2e-15)


def test_zeros():
    for (m, n), zero in ZEROS.items():
        assert zero == pytest.approx(scipy.special.jn_zeros(m, n)[-1], rel=1e-15)
        assert abs(scipy.special.jv(m, zero)) < 2e-15


def test_zeros_of_the_derivative():
    for (m, n), zero in ZEROS_OF_DERIVATIVE.items():
        assert zero == pytest.approx(scipy.special.jnp_zeros(m, n)[-1], rel=1e-15)
        assert abs(scipy.special.jvp(m, zero)) < 2e-15


def test_robin_coefficient():
    assert pytest.approx(0.367, abs=5e-4) == LAMBDA
    slope = 4 * scipy.special.jvp(2, 4.0)
    assert abs(scipy.special.jv(2, 4.0) + LAMBDA * slope) < 1e-15
