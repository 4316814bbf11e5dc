"""Segments without a condition, lists of conditions, and conditions on some components."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import ProblemError

X = np.linspace(0.0, 1.0, 21)[:, None]


def peak(x):
    return jnp.exp(-40 * (x[0] - 0.5) ** 2)


def carried(**laws):
    conditions = {"left": tb.Dirichlet(lambda x, t: peak(x - t)), "right": tb.Free(), **laws}
    return tb.Problem(tb.Interval(0.0, 1.0), tb.Transport(1.0), conditions, peak, t_end=0.5)


def test_what_flows_out_leaves_without_a_trace():
    solution = tb.solve(carried(), rtol=3e-3)
    for t in (0.3, 0.5):  # the peak is at the end by t = 0.5
        exact = np.exp(-40 * (X[:, 0] - t - 0.5) ** 2)
        assert np.abs(solution(X, t) - exact).max() < 1e-2


def test_nothing_at_the_inflow_or_with_diffusion_is_ill_posed():
    with pytest.raises(ProblemError, match="imposed on left, but the flow comes in"):
        tb.solve(carried(left=tb.Free()))
    diffusing = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.1),
        {"left": tb.Dirichlet(0.0), "right": tb.Free()},
        peak,
        t_end=0.1,
    )
    with pytest.raises(ProblemError, match="imposed on right, but the equation diffuses"):
        tb.solve(diffusing)


def two(law):
    """One component diffuses, the other stays where it is and grows with the first."""
    equation = tb.Equation(lambda u, x, t: jnp.stack([0.1 * tb.laplacian(u)(x)[0], u(x)[0]]))
    start = lambda x: jnp.stack([jnp.sin(jnp.pi * x[0]), 0.0 * x[0]])
    return tb.Problem(
        tb.Interval(0.0, 1.0), equation, {"left": law, "right": law}, start, t_end=0.2
    )


FIRST = {
    "matrix": tb.Robin([[1.0, 0.0]], [[0.0, 0.0]], 0.0),
    "function": lambda u, x, n, t: u(x)[0],
    "list": [lambda u, x, n, t: u(x)[0], tb.Free()],
}


@pytest.mark.parametrize("law", FIRST)
def test_conditions_may_speak_of_one_component(law):
    problem = two(FIRST[law])
    assert tb.select_strategy(problem).strategy.name == "local-features"
    solution = tb.solve(problem, rtol=1e-5)
    decay = 0.1 * np.pi**2
    first = np.exp(-decay * 0.2) * np.sin(np.pi * X[:, 0])
    second = (1 - np.exp(-decay * 0.2)) / decay * np.sin(np.pi * X[:, 0])
    np.testing.assert_allclose(solution(X, 0.2), np.stack([first, second], axis=1), atol=1e-5)


def test_a_list_is_its_parts_together():
    law = [tb.Robin([[1.0, 0.0]], 0.0, 2.0), tb.Robin([[0.0, 1.0]], 0.0, 3.0)]
    problem = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat([0.1, 0.2]),
        {"left": law, "right": law},
        lambda x: jnp.stack([2.0 + 0 * x[0], 3.0 + 0 * x[0]]),
        t_end=0.1,
    )
    solution = tb.solve(problem, rtol=1e-4)
    np.testing.assert_allclose(solution([0.3], 0.1), [2.0, 3.0], rtol=1e-6)
    assert problem.conditions["left"].formula.count("= ") == 2
