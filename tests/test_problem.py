"""Problem: what it checks on construction, what it evaluates, what it says."""

import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.conditions import Dirichlet, Neumann, Robin
from tengbc.equations import Equation, Heat, Source, Transport
from tengbc.errors import ProblemError, UsageError
from tengbc.fields import divergence, gradient, laplacian, normal_derivative
from tengbc.geometry import Disk, Interval, PeriodicBox, Rectangle
from tengbc.problem import Problem
from tengbc.reference import Reference

X = np.array([[0.1, 0.2], [-0.3, 0.4], [0.0, 0.0]])


def bump(x):
    return jnp.exp(-4 * jnp.sum(x**2))


def disk(**changes):
    arguments = {
        "domain": Disk(radius=1.0),
        "equation": Heat(kappa=0.1),
        "conditions": {"circle": Robin(a=1.0, b=0.367, v=0.0)},
        "initial": bump,
    }
    return Problem(**(arguments | changes))


def square(**conditions):
    return Problem(
        domain=Rectangle(lower=(0.0, 0.0), upper=(1.0, 1.0)),
        equation=Heat(0.1),
        conditions=conditions,
        initial=0.0,
    )


def test_values_at_one_point_and_many():
    problem = disk(exact=lambda x, t: bump(x) * jnp.exp(-t))
    expected = np.exp(-4 * np.sum(X**2, axis=1))
    assert problem.initial(X).dtype == np.float64
    np.testing.assert_allclose(problem.initial(X), expected, rtol=1e-15)
    np.testing.assert_allclose(problem.initial(X[1]), expected[1], rtol=1e-15)
    np.testing.assert_allclose(problem.exact(X, 2.0), expected * np.exp(-2), rtol=1e-15)
    np.testing.assert_allclose(problem.exact(X[0], 2), expected[0] * np.exp(-2), rtol=1e-15)
    assert float(problem.initial_function(X[0])) == problem.initial(X[0])
    assert problem.exact_function is not None


def test_initial_may_be_a_number():
    assert disk(initial=2).initial(X[0]) == 2.0
    np.testing.assert_array_equal(disk(initial=2).initial(X), [2.0, 2.0, 2.0])


def test_points_on_a_line_may_have_one_axis():
    problem = Problem(
        Interval(0.0, 1.0),
        Heat(1.0),
        {"left": Dirichlet(0.0), "right": Neumann(1.0)},
        initial=lambda x: x[0],
    )
    np.testing.assert_array_equal(problem.initial([[0.25], [0.5]]), [0.25, 0.5])
    np.testing.assert_array_equal(problem.initial([0.25, 0.5]), [0.25, 0.5])
    assert problem.initial([0.25]) == problem.initial(0.25) == 0.25
    with pytest.raises(UsageError, match=r"\(n, 1\)"):
        problem.initial([[0.25, 0.5]])


def test_components():
    def wave(w, x, t):
        """∂ₜ(p, q) = (∇·q, ∇p)"""
        flow = divergence(lambda y: w(y)[1:])(x)
        return jnp.concatenate([flow[None], gradient(w)(x)[0]])

    problem = disk(
        equation=Equation(wave),
        initial=lambda x: jnp.array([bump(x), 0.0, 0.0]),
        conditions={"circle": Robin(a=[[1.0, 0.0, 0.0]], b=0.0, v=0.0)},
    )
    assert problem.components == 3
    assert problem.initial(X).shape == (3, 3)
    assert disk().components == 0
    assert disk(initial=[1.0, 2.0], conditions={"circle": Dirichlet(0)}).components == 2


def test_functions_stand_for_equations_and_conditions():
    problem = disk(
        equation=lambda u, x, t: -u(x),
        conditions={"circle": lambda u, x, normal, t: normal_derivative(u)(x, normal) + u(x) ** 3},
    )
    assert float(problem.equation.rhs(bump, X[2], 0.0)) == -1.0
    assert float(problem.conditions["circle"].residual(bump, X[2], X[0], 0.0)) == 1.0


def test_segments_and_conditions_must_match_and_the_error_lists_them():
    zero = Dirichlet(0.0)
    with pytest.raises(ProblemError) as caught:
        square(left=zero, top=zero, upper=zero)
    message = str(caught.value)
    assert "no condition for right, bottom" in message
    assert "a condition for upper" in message
    assert "left, right, bottom, top" in message
    with pytest.raises(ProblemError, match="segments are: none"):
        Problem(PeriodicBox((0.0,), (1.0,)), Heat(1.0), {"left": zero}, 0.0)
    complete = square(top=zero, left=zero, right=zero, bottom=zero)
    assert tuple(complete.conditions) == complete.domain.segments


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial": lambda x, t: 0.0}, "a function of the point x alone"),
        ({"initial": lambda x: jnp.zeros((2, 2))}, "scalar or a vector"),
        ({"initial": "warm"}, "initial is 'warm'"),
        ({"equation": lambda u, x, t: np.exp(u(x))}, "equation fails.*jax.numpy"),
        ({"initial": lambda x: x[5, 0]}, "initial fails"),
        ({"equation": lambda u, x, t: gradient(u)(x)}, r"equation returns shape \(2,\)"),
        ({"equation": Transport((1.0, 2.0, 3.0))}, r"velocity has shape \(3,\).*give shape \(2,\)"),
        ({"equation": Transport(1.0)}, r"velocity has shape \(\).*give shape \(2,\)"),
        ({"equation": Heat(0.1) + Source([1.0, 2.0])}, r"equation returns shape \(2,\)"),
        ({"equation": 0.1}, "must be a function of"),
        ({"exact": lambda x: 0.0}, "exact must be a function of"),
        ({"exact": lambda x, t: x}, r"exact returns shape \(2,\)"),
        ({"conditions": {"circle": Dirichlet([1.0, 2.0])}}, "the condition on circle returns"),
        ({"conditions": {"circle": lambda u, x, n, t: x[7:9, 0]}}, "the condition on circle fails"),
        ({"conditions": {"circle": 0.0}}, r"circle is 0.0, but .* tb.Dirichlet\(0.0\)"),
        ({"equation": lambda u, x, t: 2 * u}, r"u is a field.*write u\(x\)"),
        ({"equation": lambda u, x, t: jnp.sin(u)}, r"u is a field.*write u\(x\)"),
        ({"equation": lambda u, x, t: laplacian(u)}, r"write .*tb.laplacian\(u\)\(x\)"),
        ({"equation": lambda u, x, t: 0.1 * laplacian(u)}, r"write .*tb.laplacian\(u\)\(x\)"),
        ({"t_end": 0.0}, "t_end"),
        ({"t_end": float("inf")}, "t_end"),
        ({"t_end": "1"}, "t_end"),
        ({"t_end": True}, "t_end"),
        ({"rtol": -1e-3}, "rtol"),
        ({"domain": "disk"}, r"domain is 'disk', .* such as tb.Disk"),
        ({"domain": Disk}, "it must be a domain"),
        ({"conditions": [Dirichlet(0.0)]}, "conditions is a list.*segments are: circle"),
        ({"conditions": Dirichlet(0.0)}, "conditions is a Robin.*segments are: circle"),
        ({"initial": lambda x: 1j * x[0]}, "complex"),
        ({"equation": lambda u, x, t: 1j * u(x)}, "complex"),
        ({"initial": lambda x: x[2]}, r"initial takes entry 2 of an array of shape \(2,\)"),
        ({"equation": lambda u, x, t: gradient(u)(x)[2]}, "the equation takes entry 2"),
        ({"conditions": {"circle": lambda u, x, n, t: u(x) - n[-3]}}, "circle takes entry -1"),
    ],
)
def test_contradictions_are_refused_at_once(changes, message):
    with pytest.raises(UsageError, match=message) as caught:
        disk(**changes)
    assert "\n" not in str(caught.value)


def test_without_an_exact_solution():
    with pytest.raises(UsageError, match="pass exact="):
        disk().exact(X, 0.0)
    stored = Reference(np.array([0.0, 1.0]), X, np.zeros((2, 3)))
    with pytest.raises(UsageError, match="reference holds values"):
        disk(reference=stored).exact(X, 0.0)


def test_explain_says_what_was_understood():
    text = disk(name="cooling", t_end=0.5).explain()
    for part in ("cooling", "∂ₜu = 0.1·∇²u", "Disk", "on circle", "1·u + 0.367·∂ₙu = 0", "0.5"):
        assert part in text
    assert "outward" in text
    assert "outward" not in disk(conditions={"circle": Dirichlet(0)}).explain()
    assert "u(x, 0) = 2" in disk(initial=2.0).explain()


IN_FLOAT32_JAX = """
import jax, numpy as np, jax.numpy as jnp
from tengbc.conditions import Dirichlet
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.problem import Problem
third = lambda x, t: (1 + jnp.sum(x)) / 3.0
problem = Problem(Disk(radius=1.0), Heat(0.1), {"circle": Dirichlet(third)},
                  initial=lambda x: third(x, 0.0), exact=third)
for value in (problem.initial(np.zeros(2)), problem.exact(np.zeros(2), 0.0)):
    assert value.dtype == np.float64 and value == 1 / 3, repr(value)
assert jnp.ones(1).dtype == jnp.float32
"""


def test_float64_where_jax_is_set_to_float32():
    environment = {key: value for key, value in os.environ.items() if key != "JAX_ENABLE_X64"}
    subprocess.run([sys.executable, "-c", IN_FLOAT32_JAX], env=environment, check=True)
