"""Numbers on their way into a page and out of it."""

import numpy as np
import pytest

from tengbc.report.numbers import duration, encoded, number
from tengbc.storage.checksummed import plain
from tests.report.cases import decoded


def test_rounding_is_invisible():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 400)) * 10.0 ** np.array([[0], [-12], [12], [-3], [-300]])
    error = np.abs(decoded(encoded(values)) - values).max(axis=1)
    assert (error <= np.abs(values).max(axis=1) / 65000).all()


def test_what_is_not_finite_is_missing():
    values = np.array([[1.0, np.nan, np.inf], [0.0, 0.0, 0.0], [np.nan] * 3])
    back = decoded(encoded(values))
    assert back[0, 0] == 1 and np.isnan(back[0, 1:]).all()
    assert (back[1] == 0).all() and np.isnan(back[2]).all()


def test_plain_values_are_strict_json():
    found = plain({"a": np.array([1 / 3, np.nan]), "b": [np.int64(3), np.inf], 4: "λ"}, 3)
    assert found == {"a": [0.333, None], "b": [3, None], "4": "λ"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (None, "–"),
        (float("inf"), "–"),
        (0.25, "0.25"),
        (1234567, "1,234,567"),
        (12345.6, "12,346"),
        (2.31e-12, "2.3\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻¹²"),
        (1e-10, "10⁻¹⁰"),
        (9.99e-5, "10⁻⁴"),
        (-3e7, "−3.0\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁷"),
    ],
)
def test_numbers_as_people_write_them(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.004, "4 ms"), (0.82, "0.82 s"), (21.3, "21 s"), (200.0, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
