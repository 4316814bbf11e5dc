"""Each equation against its right-hand side worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.equations import (
    AllenCahn,
    Burgers,
    Equation,
    Heat,
    Reaction,
    ReactionDiffusion,
    Source,
    Transport,
)
from tengbc.equations.base import Sum
from tengbc.errors import UsageError
from tengbc.fields import laplacian

X = np.array([0.4, -0.7])
T = 0.3
U = np.sin(2 * X[0]) * np.exp(X[1])
GRADIENT = np.array([2 * np.cos(2 * X[0]) * np.exp(X[1]), U])
LAPLACIAN = (1 - 4) * U


def u(x):
    return jnp.sin(2 * x[0]) * jnp.exp(x[1])


def system(x):
    return jnp.stack([u(x), 3 * u(x), -u(x)])


def velocity(x):
    return jnp.stack([x[1], -3 * x[0]])


FLOW = np.array([X[1], -3 * X[0]])

CASES = [
    (Heat(0.1), 0.1 * LAPLACIAN, "0.1·∇²u"),
    (Heat(lambda x: x[0]), X[0] * LAPLACIAN, "κ(x)·∇²u"),
    (Heat(lambda x, t: x[0] + t), (X[0] + T) * LAPLACIAN, "κ(x, t)·∇²u"),
    (Transport((2.0, -1.0)), -(2 * GRADIENT[0] - GRADIENT[1]), "−[ 2., -1.]·∇u"),
    (Transport(velocity), -FLOW @ GRADIENT, "−v(x)·∇u"),
    (Transport(lambda x, t: t * velocity(x)), -T * FLOW @ GRADIENT, "−v(x, t)·∇u"),
    (Burgers(1e-3), -U * GRADIENT.sum() + 1e-3 * LAPLACIAN, "−u·Σᵢ∂ᵢu + 0.001·∇²u"),
    (AllenCahn(0.01), 0.01 * LAPLACIAN + U - U**3, "0.01·∇²u + u − u³"),
    (
        ReactionDiffusion(0.2, lambda w: w * (1 - w)),
        0.2 * LAPLACIAN + U * (1 - U),
        "0.2·∇²u + R(u)",
    ),
    (Source(lambda x, t: x[0] * t), X[0] * T, "f(x, t)"),
    (Equation(lambda u, x, t: t * laplacian(u)(x) - u(x) ** 3), T * LAPLACIAN - U**3, "f(u, x, t)"),
    (Heat(1) + Transport(velocity), LAPLACIAN - FLOW @ GRADIENT, "1·∇²u − v(x)·∇u"),
    (Heat(1) + Source(-2.0) + Reaction(jnp.sin), LAPLACIAN - 2 + np.sin(U), "1·∇²u − 2 + R(u)"),
]


@pytest.mark.parametrize(("equation", "expected", "formula"), CASES, ids=[c[2] for c in CASES])
def test_right_hand_side(equation, expected, formula):
    found = equation.rhs(u, X, T)
    assert found.shape == ()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        sum(term.rhs(u, X, T) for term in equation.terms), expected, rtol=0, atol=1e-12
    )
    assert equation.formula == formula


@pytest.mark.parametrize(("equation", "count"), [(Heat(1), 1), (Burgers(1), 2), (AllenCahn(1), 2)])
def test_number_of_terms(equation, count):
    assert len(equation.terms) == count


def test_sums_flatten_into_terms():
    total = Burgers(0.1) + Source(1.0) + Heat(0.1)
    assert isinstance(total, Sum)
    assert len(total.terms) == 4
    with pytest.raises(TypeError):
        Heat(0.1) + 1.0


def test_a_system_goes_component_by_component():
    factors = np.array([1, 3, -1])
    for equation in (Heat(0.1), Transport(velocity)):
        expected = factors * float(equation.rhs(u, X, T))
        np.testing.assert_allclose(equation.rhs(system, X, T), expected, atol=1e-12)
    kappa = np.array([1.0, 2.0, 0.0])
    found = ReactionDiffusion(kappa, lambda w: w[::-1]).rhs(system, X, T)
    expected = kappa * factors * LAPLACIAN + U * factors[::-1]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 3, 5])
def test_any_dimension(dim):
    x = np.linspace(0.1, 0.9, dim)
    field = lambda y: jnp.sum(y**2)
    square = np.sum(x**2)
    expected = -square * 2 * x.sum() + 0.1 * 2 * dim
    np.testing.assert_allclose(Burgers(0.1).rhs(field, x, 0.0), expected, atol=1e-12)
    assert float(Transport(np.ones(dim)).rhs(field, x, 0.0)) == pytest.approx(-2 * x.sum())


def test_differentiable_in_a_coefficient():
    slope = jax.grad(lambda kappa: Heat(kappa).rhs(u, X, T))(0.5)
    assert float(slope) == pytest.approx(LAPLACIAN, abs=1e-12)


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Equation(lambda u, x: u(x)),
        lambda: Equation(3.0),
        lambda: Heat("hot"),
        lambda: Heat(-0.1),
        lambda: Heat([0.1, -0.1]),
        lambda: ReactionDiffusion(-1.0, lambda u: u),
        lambda: Transport(lambda u, x, t: x),
        lambda: ReactionDiffusion(1.0, lambda u, x: u),
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong):
    with pytest.raises(UsageError):
        wrong()
