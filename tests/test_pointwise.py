"""Pointwise functions evaluated at one point or many, always in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.pointwise import Evaluator, as_points, as_time


def test_one_point_or_many():
    evaluate = Evaluator(lambda x, t: x[0] + 10 * x[1] + t, 2)
    assert evaluate([1.0, 2.0], 0.5).shape == ()
    assert evaluate([1.0, 2.0], 0.5) == 21.5
    np.testing.assert_array_equal(evaluate([[1, 2], [3, 4]], 0), [21.0, 43.0])
    assert evaluate(np.zeros((0, 2)), 0.0).shape == (0,)


def test_systems_keep_their_components_last():
    evaluate = Evaluator(lambda x, t: jnp.stack([x[0], -x[0], t]), 1)
    np.testing.assert_array_equal(evaluate([2.0], 1.0), [2.0, -2.0, 1.0])
    assert evaluate(np.zeros((5, 1)), 0.0).shape == (5, 3)


@pytest.mark.parametrize("shape", [(), (3,), (4, 3), (2, 2, 2), (2, 1)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(UsageError, match=r"\(2,\) and n points have shape \(n, 2\)"):
        as_points(np.zeros(shape), 2)


def test_points_of_a_line_may_have_one_axis():
    assert as_points(np.zeros(5), 1).shape == (5, 1)
    assert as_points(np.zeros(1), 1).shape == as_points(0.0, 1).shape == (1,)
    with pytest.raises(UsageError, match=r"\(n, 1\)"):
        as_points(np.zeros((2, 5)), 1)


def test_several_times_where_one_belongs_name_the_way_to_ask():
    with pytest.raises(UsageError, match=r"solution\.at_times\(x, times\)"):
        as_time([0.1, 0.2])


@pytest.mark.parametrize("change", [jax.grad, jax.jit, lambda f: lambda t: jax.vmap(f)(t[None])])
def test_traced_points_and_times_are_refused_in_a_sentence(change):
    for function in (as_time, lambda t: as_points([t], 1)[0]):
        with pytest.raises(UsageError, match=r"outside jax\.grad, jit and vmap"):
            change(function)(jnp.array(0.5))


@pytest.mark.parametrize("points", ["ab", [[0.0, 1.0], [2.0]], None, object()])
def test_what_is_no_array_of_numbers_is_refused(points):
    with pytest.raises(UsageError, match=r"\(n, 2\)"):
        as_points(points, 2)


@pytest.mark.parametrize("time", ["0.5", [0.1, 0.2], None, 1j, np.array([0.5])])
def test_a_time_is_one_number(time):
    assert as_time(1) == as_time(np.float32(1.0)) == as_time(jnp.asarray(1.0)) == 1.0
    with pytest.raises(UsageError, match="must be one number"):
        as_time(time)
