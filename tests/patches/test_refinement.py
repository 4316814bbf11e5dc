"""What is left of a field beyond the degrees that are known of it."""

import numpy as np
import pytest

from tengbc.patches import refinement


def left_out(shares, degree):
    """The norm beyond a degree, as part of that in the last two."""
    return np.linalg.norm(shares[degree + 1 :]) / np.linalg.norm(shares[degree - 1 : degree + 1])


@pytest.mark.parametrize("degree", [4, 6, 10, 30])
@pytest.mark.parametrize("factor", [0.2, 0.4, 0.6])
def test_the_tail_of_shares_that_fall_by_a_factor(degree, factor):
    shares = factor ** np.arange(200.0)
    found = refinement.tail(shares[: degree + 1]) / left_out(shares, degree)
    assert 1.0 <= found <= 2.0


@pytest.mark.parametrize("degree", [4, 6, 10])
@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_the_tail_of_shares_that_fall_as_a_power(degree, power):
    shares = np.arange(1, 100_000.0) ** -power
    found = refinement.tail(shares[: degree + 1]) / left_out(shares, degree)
    assert 0.5 <= found <= 1.5


@pytest.mark.parametrize(
    "shares", [[1.0, 0.5, 0.5, 0.6, 0.6], [0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0]]
)
def test_shares_that_do_not_fall_leave_as_much_again(shares):
    assert refinement.tail(np.array(shares)) == refinement.MOST_TAIL
