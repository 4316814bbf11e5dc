"""Stored reference values: given at their own times, never in between."""

import numpy as np
import pytest

from tengbc.errors import OutsideError
from tengbc.reference import Reference

STORED = Reference(
    times=np.array([0.0, 0.1, 0.3]),
    points=np.zeros((2, 1)),
    samples=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
)


def test_values_by_index_and_by_time():
    np.testing.assert_array_equal(STORED.values(1), [3.0, 4.0])
    np.testing.assert_array_equal(STORED.values_at(0.1 + 0.1 + 0.1), [5.0, 6.0])


def test_other_times_are_refused_and_the_stored_ones_listed():
    with pytest.raises(OutsideError, match=r"0, 0\.1, 0\.3"):
        STORED.values_at(0.2)
