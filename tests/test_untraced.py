"""Data that JAX cannot trace: NumPy, tables and `if` give the same as jax.numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import tengbc as tb
from tengbc.errors import ProblemError
from tengbc.options import options
from tengbc.programs import Vectorised
from tengbc.solver.examine import examine
from tengbc.untraced import numeric

X = np.linspace(0.0, 1.0, 9)[:, None]
ZERO = tb.Dirichlet(0.0)
BOUNDS = (np.zeros(2), np.ones(2))


def plate(**parts):
    chosen = {
        "domain": tb.Interval(0.0, 1.0),
        "equation": tb.Heat(0.1),
        "conditions": {"left": ZERO, "right": ZERO},
        "initial": lambda x: jnp.sin(jnp.pi * x[0]),
        "t_end": 0.1,
    }
    return tb.Problem(**{**chosen, **parts})


def left(v):
    return {"left": tb.Dirichlet(v), "right": ZERO}


PAIRS = {
    "initial": (
        {"initial": lambda x: np.sin(np.pi * x[0])},
        {"initial": lambda x: jnp.sin(jnp.pi * x[0])},
    ),
    "the condition on left": (
        {"conditions": left(lambda x, t: np.sin(3 * t) ** 2)},
        {"conditions": left(lambda x, t: jnp.sin(3 * t) ** 2)},
    ),
    "the equation": (
        {"equation": tb.Heat(0.1) + tb.Source(lambda x, t: t if x[0] < 2 else 9.0)},
        {"equation": tb.Heat(0.1) + tb.Source(lambda x, t: t)},
    ),
}


@pytest.mark.parametrize("part", PAIRS)
def test_the_solution_is_that_of_traced_data(part):
    problems = [plate(**each) for each in PAIRS[part]]
    assert [problem.untraced for problem in problems] == [(part,), ()]
    ours, theirs = (tb.solve(problem, rtol=1e-5) for problem in problems)
    np.testing.assert_allclose(ours(X, 0.07), theirs(X, 0.07), atol=1e-12)
    said = [f.text for f in examine(problems[0], options(t_end=0.1), thorough=False)]
    assert any(text.startswith(f"{part} is not written with jax.numpy") for text in said)


def test_a_coefficient_is_differentiated_well_enough():
    """∇·A of a varying κ is the derivative of numbers."""
    pair = (lambda x: 0.1 + 0.05 * np.sin(3 * x[0]), lambda x: 0.1 + 0.05 * jnp.sin(3 * x[0]))
    ours, theirs = (tb.solve(plate(equation=tb.Heat(kappa)), rtol=1e-6) for kappa in pair)
    np.testing.assert_allclose(ours(X, 0.1), theirs(X, 0.1), atol=1e-10)


def test_derivatives_are_those_of_the_function():
    f = numeric(lambda x, t: float(np.exp(x[0]) * np.sin(2 * x[1]) * np.cos(t)), 2, BOUNDS, 1.0)
    assert f is not None
    traced = lambda x, t: jnp.exp(x[0]) * jnp.sin(2 * x[1]) * jnp.cos(t)
    for x in (np.array([0.4, 0.7]), np.array([0.0, 1.0])):  # inside, and on the rim
        for argument in (0, 1):
            found, wanted = (Vectorised(jax.jacfwd(g, argument), None) for g in (f, traced))
            np.testing.assert_allclose(found(x, 0.0), wanted(x, 0.0), atol=1e-9)
        found, wanted = (Vectorised(jax.jacfwd(jax.jacfwd(g)), None) for g in (f, traced))
        np.testing.assert_allclose(found(x, 0.3), wanted(x, 0.3), atol=1e-5)


def test_a_table_is_never_asked_outside_its_box():
    """It raises there; also where only derivatives are wanted."""
    axis = np.linspace(0.0, 1.0, 41)
    xx, yy = np.meshgrid(axis, axis, indexing="ij")
    table = RegularGridInterpolator((axis, axis), np.sin(np.pi * xx) * np.sin(np.pi * yy))
    problem = tb.Problem(
        tb.Rectangle((0.0, 0.0), (1.0, 1.0)),
        tb.Heat(0.1) + tb.Source(lambda x: table(x)[0]),
        dict.fromkeys(("left", "right", "bottom", "top"), ZERO),
        0.0,
        t_end=0.1,
    )
    examine(problem, options(t_end=0.1), thorough=False)
    assert problem.untraced == ("the equation",)


@pytest.mark.parametrize(
    "function",
    [lambda x: np.sin(x[0]), lambda x: float(x @ x), lambda x: 1.0 if x[0] < 0.3 else 2.0],
    ids=["elementwise", "one point only", "branch"],
)
def test_many_points_are_as_one_by_one(function):
    f = numeric(function, 1, BOUNDS, 1.0)
    assert f is not None
    x = np.random.default_rng(0).random((50, 2))
    found = Vectorised(f)(x)
    np.testing.assert_allclose(found, [function(row) for row in x], rtol=1e-14)


def test_a_function_of_u_has_to_be_traced_and_says_so():
    """Also where only t is put into NumPy: that was a traceback later on."""
    for function in (
        lambda u, x, t: 0.1 * tb.laplacian(u)(x) + np.sin(t),
        lambda u, x, t: u(x) if t < 0.5 else -u(x),
    ):
        with pytest.raises(ProblemError, match=r"the equation fails.*jnp\.where instead of if"):
            plate(equation=function)


def test_a_failing_function_says_where():
    def table(x, t):
        return {0.0: 0.0}[float(np.round(t, 3)) * (t > 1e-3)]

    with pytest.raises(ProblemError, match=r"fails at x = \(0\), t = .*KeyError"):
        tb.solve(plate(conditions=left(table)), rtol=1e-3)
