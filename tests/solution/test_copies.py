"""Copies of problems and solutions: copy, deepcopy and pickle, for all who carry them around."""

import copy
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import UsageError

X = np.array([[0.3], [0.6]])


def hill(x):
    return jnp.sin(jnp.pi * x[0])


def plate(initial, source=0.0):
    ends = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    return tb.Problem(
        tb.Interval(0.0, 1.0), tb.Heat(0.1) + tb.Source(source), ends, initial, t_end=0.05
    )


@pytest.fixture(scope="module")
def solution():
    return tb.solve(plate(hill), rtol=1e-3, throw=False)


@pytest.fixture(scope="module")
def unpicklable():
    return tb.solve(plate(lambda x: hill(x)), rtol=1e-3, throw=False)


def again(each):
    return pickle.loads(pickle.dumps(each))


@pytest.mark.parametrize("carried", [copy.copy, copy.deepcopy, again])
def test_a_solution_and_its_problem_are_carried_whole(solution, carried):
    copied = carried(solution)
    np.testing.assert_array_equal(copied(X, 0.03), solution(X, 0.03))
    np.testing.assert_array_equal(copied.problem.initial(X), solution.problem.initial(X))
    assert repr(copied) == repr(solution) and copied.facts == solution.facts
    problem = carried(solution.problem)
    assert problem.explain() == solution.problem.explain()
    assert tb.solve(problem, rtol=1e-3, throw=False).times[-1] == 0.05


def test_a_lambda_can_be_copied_but_stays_behind_when_pickled(unpicklable):
    copied = copy.deepcopy(unpicklable)
    np.testing.assert_array_equal(copied.problem.initial(X), unpicklable.problem.initial(X))
    carried = again(unpicklable)
    np.testing.assert_array_equal(carried(X, 0.03), unpicklable(X, 0.03))
    assert carried.flux("left", 0.03) == unpicklable.flux("left", 0.03)
    with pytest.raises(UsageError, match="no Python functions"):
        carried.problem.initial(X)
    np.testing.assert_array_equal(again(carried)(X, 0.03), unpicklable(X, 0.03))


def test_untraced_data_are_carried_too():
    problem = copy.deepcopy(plate(lambda x: np.sin(np.pi * x[0])))
    assert problem.untraced == ("initial",)
    np.testing.assert_allclose(problem.initial(X), np.sin(np.pi * X[:, 0]), rtol=1e-15)
