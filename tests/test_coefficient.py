"""A coefficient is a number, an array or a function; its signature says of what."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.coefficient import coefficient
from tengbc.errors import UsageError

X = np.array([2.0, 3.0])


class Callable(eqx.Module):
    scale: float

    def __call__(self, x, *, key=None):
        return self.scale * x[0]


@pytest.mark.parametrize(
    ("value", "expected", "time_dependent", "text"),
    [
        (2, 2.0, False, "2"),
        (-0.25, -0.25, False, "−0.25"),
        (np.float32(0.5), 0.5, False, "0.5"),
        (jnp.array(0.5), 0.5, False, "0.5"),
        ([1.0, 2.0], [1.0, 2.0], False, "[1., 2.]"),
        (lambda x: x[0] * x[1], 6.0, False, "c(x)"),
        (lambda y, time: y[0] + time, 12.0, True, "c(x, t)"),
        (lambda x, k=7.0: k * x[0], 14.0, False, "c(x)"),
        (lambda x, t=0.0: x[0] + t, 12.0, True, "c(x, t)"),
        (lambda x: 3, 3.0, False, "c(x)"),
        (Callable(4.0), 8.0, False, "c(x)"),
        (functools.partial(lambda a, x, t: a * x[1] * t, 0.5), 15.0, True, "c(x, t)"),
        (jnp.sum, 5.0, False, "c(x)"),
    ],
)
def test_what_it_may_be(value, expected, time_dependent, text):
    c = coefficient(value, "c")
    found = c(X, 10.0)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
    assert c.time_dependent is time_dependent
    assert c.constant is not callable(value)
    assert c.text("c") == text
    assert coefficient(c, "c") is c


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: 1.0, r"c must be a function of x or of \(x, t\), but it takes \(\)"),
        (lambda u, x, t: 1.0, r"but it takes \(u, x, t\)"),
        (lambda t: t, r"but it takes \(t\)"),
        (lambda t, x: t, r"but it takes \(t, x\)"),
        (lambda *arguments: 1.0, "any number of arguments"),
        (max, "cannot be read|any number"),
        ("0.1", "neither a number"),
        (None, "neither a number"),
        (True, "neither a number"),
        (1j, "neither a number"),
        ({1}, "neither a number"),
        (float("nan"), "must be finite"),
        ([1.0, np.inf], "must be finite"),
    ],
)
def test_what_it_may_not_be(value, message):
    with pytest.raises(UsageError, match=message) as caught:
        coefficient(value, "c")
    assert "\n" not in str(caught.value)


def test_only_numbers_equal_a_number():
    assert coefficient(0, "c").equals(0)
    assert not coefficient(1e-300, "c").equals(0)
    assert not coefficient(lambda x: 0.0, "c").equals(0)
    assert not coefficient([0.0, 0.0], "c").equals(0)


def test_differentiable_in_its_number():
    assert float(jax.grad(lambda k: coefficient(k, "c")(X, 0.0) ** 2)(3.0)) == 6.0
