"""Boundary conditions against residuals worked out by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.conditions import Condition, Dirichlet, Neumann, Robin
from tengbc.errors import UsageError
from tengbc.fields import normal_derivative

X = np.array([0.6, 0.8])
NORMAL = np.array([0.8, -0.6])
T = 0.5
U = X[0] ** 2 * X[1]
SLOPE = 2 * X[0] * X[1] * NORMAL[0] + X[0] ** 2 * NORMAL[1]


def u(x):
    return x[0] ** 2 * x[1]


def system(x):
    return jnp.stack([u(x), 2 * u(x)])


CASES = [
    (Dirichlet(0), U, "u = 0"),
    (Dirichlet(lambda x: x[0]), U - X[0], "u = v(x)"),
    (Dirichlet(lambda x, t: x[0] * t), U - X[0] * T, "u = v(x, t)"),
    (Neumann(0.25), SLOPE - 0.25, "∂ₙu = 0.25"),
    (Neumann(lambda x, t: t), SLOPE - T, "∂ₙu = v(x, t)"),
    (Robin(1, 0.367, 0), U + 0.367 * SLOPE, "1·u + 0.367·∂ₙu = 0"),
    (Robin(2, -3, 1), 2 * U - 3 * SLOPE - 1, "2·u − 3·∂ₙu = 1"),
    (
        Robin(lambda x: x[1], lambda x, t: t + x[0], lambda x, t: t),
        X[1] * U + (T + X[0]) * SLOPE - T,
        "a(x)·u + b(x, t)·∂ₙu = v(x, t)",
    ),
    (Robin(0, lambda x: x[0], 0), X[0] * SLOPE, "0·u + b(x)·∂ₙu = 0"),
    (
        Condition(lambda u, x, normal, t: normal_derivative(u)(x, normal) + u(x) ** 4 - t),
        SLOPE + U**4 - T,
        "g(u, x, n, t) = 0",
    ),
]


@pytest.mark.parametrize(("law", "expected", "formula"), CASES, ids=[case[2] for case in CASES])
def test_residual(law, expected, formula):
    found = law.residual(u, X, NORMAL, T)
    assert found.shape == ()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert law.formula == formula


def test_the_slope_changes_sign_with_the_normal():
    inward = Neumann(0.0).residual(u, X, -NORMAL, T)
    assert float(inward) == pytest.approx(-SLOPE, abs=1e-12)


def test_what_is_multiplied_by_zero_is_not_computed():
    def step(x):  # a field whose slope must not be asked for
        calls.append(1)
        return u(x)

    calls = []
    Dirichlet(0.0).residual(step, X, NORMAL, T)
    assert len(calls) == 1
    calls.clear()
    Neumann(0.0).residual(step, X, NORMAL, T)
    assert len(calls) == 1
    # NaN at the boundary point does not spoil a law that speaks of the other quantity only.
    assert np.isfinite(Dirichlet(0.0).residual(lambda x: jnp.sqrt(x[0]), np.zeros(2), NORMAL, T))


def test_systems():
    np.testing.assert_allclose(
        Robin(1, [1, 10], [0.5, 1]).residual(system, X, NORMAL, T),
        [U + SLOPE - 0.5, 2 * U + 20 * SLOPE - 1],
        atol=1e-12,
    )
    first_only = Robin(a=[[1.0, 0.0]], b=0, v=[0.5]).residual(system, X, NORMAL, T)
    np.testing.assert_allclose(first_only, [U - 0.5], atol=1e-12)
    coupled = Robin(a=[[1.0, 2.0], [0.0, 1.0]], b=0, v=0).residual(system, X, NORMAL, T)
    np.testing.assert_allclose(coupled, [5 * U, 2 * U], atol=1e-12)
    vector = Condition(lambda u, x, n, t: u(x)[0] * n).residual(system, X, NORMAL, T)
    np.testing.assert_allclose(vector, U * NORMAL, atol=1e-12)


def test_one_dimension():
    law = Robin(2.0, 3.0, 1.0)
    found = law.residual(lambda x: x[0] ** 2, np.array([0.5]), np.array([-1.0]), 0.0)
    assert float(found) == pytest.approx(2 * 0.25 - 3 * 1.0 - 1.0)


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Robin(0, 0.0, 1.0),
        lambda: Robin(1, None, 0),
        lambda: Dirichlet(lambda t: t),
        lambda: Condition(lambda u, x: u(x)),
        lambda: Condition(0.0),
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong):
    with pytest.raises(UsageError):
        wrong()


def test_the_empty_law_says_why():
    with pytest.raises(UsageError, match="says nothing about u"):
        Robin(0, 0, 1)
