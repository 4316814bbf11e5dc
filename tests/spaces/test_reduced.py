"""A few directions against the whole space: the same march, whatever the data."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.schemes.radau import RadauIIA
from tengbc.spaces import State
from tengbc.spaces.reduced import reduced
from tests.patches.spaces import even, space

SQUARE = tb.Rectangle((0.0, 0.0), (1.0, 1.0))
COLD = tb.Dirichlet(0.0)


def given(initial=0.0, equation=None, **conditions):
    """Heat on a square of 64 patches with 15 features each, cold where nothing else is said."""
    every = {name: COLD for name in SQUARE.segments} | conditions
    problem = tb.Problem(SQUARE, equation or tb.Heat(0.3), every, initial)
    return problem, space(problem, even(SQUARE, 4, level=3))


def marched(found, theta, steps=32, end=1.0):
    """θ after each of some equal steps."""
    step = RadauIIA(3, True).prepare(found, end / steps)
    state, states = State(theta), []
    for k in range(steps):
        state, _ = step(state, k * end / steps)
        states.append(state.theta)
    return np.array(states)


CASES = {
    "decay": {"initial": lambda x: x[0] * (1 - x[0]) * jnp.sin(3 * x[1])},
    "jump": {"initial": lambda x: jnp.where(x[0] + x[1] < 0.9, 1.0, 0.0)},
    "steady data": {"left": tb.Dirichlet(1.0), "top": tb.Robin(2.0, 1.0, lambda x: x[0])},
    "data of time": {"left": tb.Dirichlet(lambda x, t: jnp.sin(3 * t) * x[1])},
    "source": {"equation": tb.Heat(0.3) + tb.Source(lambda x: jnp.exp(-4 * jnp.sum(x**2)))},
    "drift": {
        "initial": lambda x: jnp.exp(-20 * jnp.sum((x - 0.3) ** 2)),
        "equation": tb.Heat(0.01) + tb.Transport([0.5, 0.2]),
        "left": tb.Dirichlet(lambda x, t: jnp.sin(5 * t) ** 2),
    },
    "insulated": {"initial": lambda x: x[0], **{s: tb.Neumann(0.0) for s in SQUARE.segments}},
}


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
@pytest.mark.parametrize("name", CASES)
def test_the_same_march(name, tolerance):
    problem, whole = given(**CASES[name])
    start = whole.fitted(problem.initial)
    few = reduced(whole, whole.head(start), 1.0, 0.05, tolerance)
    assert few is not None and few.basis.shape[1] < 90
    np.testing.assert_allclose(few.basis.T @ few.basis, np.eye(few.basis.shape[1]), atol=1e-12)
    truth, found = (marched(one, start)[2:] for one in (whole, few))
    size = np.linalg.norm(truth, axis=1).max()
    apart = np.linalg.norm(found - truth, axis=1).max() / size
    print(name, tolerance, few.basis.shape[1], apart)
    assert apart <= 3 * tolerance
    # Of so few directions not all that the space has.
    assert np.linalg.norm(found - truth) > 0


def test_a_step_knows_its_error():
    """The same embedded estimate in both spaces, once the first layer has died out."""
    problem, whole = given(left=tb.Dirichlet(lambda x, t: jnp.sin(3 * t) * x[1]))
    start = whole.fitted(problem.initial)
    few = reduced(whole, whole.head(start), 1.0, 0.05, 1e-8)
    theta = marched(whole, start)[15]
    errors = [
        RadauIIA(3, True).prepare(one, 0.25)(State(theta), 0.5)[1][0].step_error
        for one in (whole, few)
    ]
    assert errors[1] == pytest.approx(errors[0], rel=1e-3)


@pytest.mark.parametrize(
    "more",
    [
        {"equation": tb.Heat(0.3) + tb.Source(lambda x, t: jnp.sin(t) * x[0])},
        {"equation": tb.Heat(lambda x, t: 1.0 + t)},
        {"equation": tb.Heat(0.3) + tb.Reaction(lambda u: u**2)},
        {"left": tb.Dirichlet(lambda x, t: jnp.exp(-200 * (x[1] - t) ** 2))},
    ],
    ids=["a source of time", "coefficients of time", "nonlinear", "data that wander"],
)
def test_where_there_are_no_few_directions(more):
    problem, whole = given(**more)
    start = whole.head(whole.fitted(problem.initial))
    assert reduced(whole, start, 1.0, 0.05, 1e-6) is None
