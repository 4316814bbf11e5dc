"""A, β and c of equations, a, b and v of conditions, against those derived by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.patches.laws import Laws

X = np.array([[0.2, 0.4], [0.9, -0.3], [0.5, 0.1]])
N = np.array([[1.0, 0.0], [0.0, -1.0], [0.6, 0.8]])
T = 0.7


def laws(equation, condition=None, components=0, domain=None):
    domain = domain or tb.Rectangle((0.0, -1.0), (1.0, 1.0))
    conditions = dict.fromkeys(domain.segments, condition or tb.Dirichlet(0.0))
    nothing = jnp.zeros(components) if components else 0.0
    return Laws(tb.Problem(domain, equation, conditions, lambda x: nothing))


def same(found, diffusion, drift, reaction):
    np.testing.assert_allclose(found.diffusion[:, 0], diffusion, atol=1e-13)
    np.testing.assert_allclose(found.drift[:, 0, 0], drift, atol=1e-13)
    np.testing.assert_allclose(found.reaction[:, 0, 0], reaction, atol=1e-13)


def test_heat_and_transport():
    found = laws(tb.Heat(0.3) + tb.Transport([2.0, -1.0])).coefficients(X, T)
    same(found, np.tile(0.3 * np.eye(2), (3, 1, 1)), np.tile([-2.0, 1.0], (3, 1)), 0.0)


def test_a_coefficient_of_heat_that_varies():
    """A:∇²u for Heat(κ(x, t)) = κ∇²u: β = −∇κ."""
    kappa = lambda x, t: 1.0 + t * x[0] ** 2 + 0.5 * x[1]
    found = laws(tb.Heat(kappa)).coefficients(X, T)
    value = 1.0 + T * X[:, 0] ** 2 + 0.5 * X[:, 1]
    slope = np.stack([2 * T * X[:, 0], np.full(3, 0.5)], axis=1)
    same(found, value[:, None, None] * np.eye(2), -slope, 0.0)


def test_the_drift_at_a_single_point():
    """As in a batch of one boundary point: β = −∇κ there too."""
    found = laws(tb.Heat(lambda x: 1.0 + x[0] ** 2))
    np.testing.assert_allclose(
        found.coefficients(X[:1], T).drift, found.coefficients(X, T).drift[:1], atol=1e-13
    )


def general(u, x, t):
    h, g = jax.hessian(u)(x), jax.grad(u)(x)
    second = (1 + x[0] ** 2) * h[0, 0] + 2 * x[0] * x[1] * h[0, 1] + (2 + t) * h[1, 1]
    return second + x[1] * g[0] - t * g[1] + (x[0] - 3.0) * u(x) + jnp.sin(x[0] * t)


def test_a_lambda_with_everything():
    """∇·A = (∂₁(1 + x²) + ∂₂(xy), ∂₁(xy) + ∂₂(2 + t)) = (3x, y)."""
    found = laws(tb.Equation(general))
    x, y = X.T
    off = x * y
    a = np.stack([1 + x**2, off, off, np.full(3, 2 + T)], axis=1).reshape(3, 2, 2)
    drift = np.stack([y - 3 * x, -T - y], axis=1)
    same(found.coefficients(X, T), a, drift, x - 3.0)
    np.testing.assert_allclose(found.density(X, T)[:, 0], np.sin(x * T), rtol=1e-13)


def test_probes_and_derivatives_agree():
    found = laws(tb.Equation(general))
    state = np.ones((3, 1)), np.full((3, 1, 2), 0.5)
    probed, derived = found.coefficients(X, T), found.coefficients(X, T, state)
    for name in ("diffusion", "drift", "reaction"):
        np.testing.assert_allclose(getattr(probed, name), getattr(derived, name), atol=1e-13)


def coupled(u, x, t):
    v, g = u(x), jax.jacfwd(u)(x)
    first = 0.5 * tb.laplacian(u)(x)[0] + x[0] * g[1, 1] + 2 * v[0] - v[1]
    second = (1 + x[1] ** 2) * tb.laplacian(u)(x)[1] - 3 * g[1, 0] + x[1] * v[0]
    return jnp.stack([first, second])


def test_a_system():
    found = laws(tb.Equation(coupled), components=2).coefficients(X, T)
    x, y = X.T
    np.testing.assert_allclose(found.diffusion[:, 0], np.tile(0.5 * np.eye(2), (3, 1, 1)))
    np.testing.assert_allclose(found.diffusion[:, 1], (1 + y**2)[:, None, None] * np.eye(2))
    drift = np.zeros((3, 2, 2, 2))
    drift[:, 0, 1, 1] = x
    drift[:, 1, 1, 0], drift[:, 1, 1, 1] = -3.0, -2 * y
    np.testing.assert_allclose(found.drift, drift, atol=1e-13)
    reaction = np.zeros((3, 2, 2))
    reaction[:, 0, 0], reaction[:, 0, 1], reaction[:, 1, 0] = 2.0, -1.0, y
    np.testing.assert_allclose(found.reaction, reaction, atol=1e-13)


def test_a_reaction_around_a_state():
    found = laws(tb.ReactionDiffusion(0.1, lambda u: u - u**3))
    value = np.array([[0.5], [-1.0], [2.0]])
    state = value, np.ones((3, 1, 2))
    same(
        found.coefficients(X, T, state),
        np.tile(0.1 * np.eye(2), (3, 1, 1)),
        0.0,
        1 - 3 * value[:, 0] ** 2,
    )
    np.testing.assert_allclose(found.density(X, T, state), value - value**3)
    drift, reaction = found.lower(X, T, state)
    assert not drift.any()
    np.testing.assert_allclose(reaction[:, 0, 0], 1 - 3 * value[:, 0] ** 2)


def test_burgers_around_a_state():
    found = laws(tb.Burgers(0.1), domain=tb.Interval(0.0, 1.0))
    value, slope = np.array([[0.5], [2.0]]), np.array([[[3.0]], [[-1.0]]])
    drift, reaction = found.lower(X[:2, :1], T, (value, slope))
    np.testing.assert_allclose(drift[:, 0, 0], -value)
    np.testing.assert_allclose(reaction[:, 0], -slope[:, 0])
    np.testing.assert_allclose(found.density(X[:2, :1], T, (value, slope)), -value * slope[:, 0])


VARYING = {
    "numbers": tb.Heat(0.3) + tb.Transport([2.0, -1.0]) + tb.Source(3.0),
    "functions": tb.Heat(lambda x: 1 + x[0] ** 2)
    + tb.Heat(0.2)
    + tb.Transport(lambda x, t: jnp.stack([t, x[1]]))
    + tb.Source(lambda x, t: x[0] * t)
    + tb.Source(lambda x: x[1]),
    "components": tb.Heat([0.3, 0.1])
    + tb.Heat(lambda x: jnp.stack([x[0], x[1] ** 2 + 1]))
    + tb.Transport([1.0, 2.0])
    + tb.Source([1.0, -1.0]),
}


@pytest.mark.parametrize("name", VARYING)
def test_terms_that_are_known_and_their_trace_agree(name):
    equation, components = VARYING[name], 2 if name == "components" else 0
    told = tb.Equation(lambda u, x, t: equation.rhs(u, x, t))
    ours, theirs = (laws(e, components=components) for e in (equation, told))
    rng, m = np.random.default_rng(1), components or 1
    state = rng.normal(size=(3, m)), rng.normal(size=(3, m, 2))
    for around in (None, state):
        one, other = (found.coefficients(X, T, around) for found in (ours, theirs))
        for part in ("diffusion", "drift", "reaction"):
            np.testing.assert_allclose(getattr(one, part), getattr(other, part), atol=1e-13)
        one, other = (found.density(X, T, around) for found in (ours, theirs))
        np.testing.assert_allclose(one, other, atol=1e-13)
    for one, other in zip(ours.lower(X, T, state), theirs.lower(X, T, state), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)
    assert ours.refusal == theirs.refusal == ""
    assert ours.uses_slope and theirs.uses_slope
    assert ours.equation_structure == theirs.equation_structure


def test_an_equation_with_a_right_hand_side_of_its_own_inherits_no_terms():
    class Doubled(tb.Heat):
        def rhs(self, u, x, t):
            return 2 * super().rhs(u, x, t)

    same(laws(Doubled(0.3)).coefficients(X, T), np.tile(0.6 * np.eye(2), (3, 1, 1)), 0.0, 0.0)


# Conditions.


def values(condition, state=None, components=0):
    found = laws(tb.Heat(1.0), condition, components)
    a, b = found.condition("left", X, N, T, state)
    return a, b, found.residual("left", X, N, T, state), found.condition_structures["left"]


@pytest.mark.parametrize(
    "condition, a, b, v",
    [
        (tb.Dirichlet(3.0), 1.0, 0.0, 3.0),
        (tb.Neumann(lambda x: x[0]), 0.0, 1.0, X[:, 0]),
        (tb.Robin(2.0, -0.5, lambda x, t: t * x[1]), 2.0, -0.5, T * X[:, 1]),
        (tb.Robin(lambda x: 1 + x[0], lambda x, t: t, 0.5), 1 + X[:, 0], T, 0.5),
        (
            tb.Condition(lambda u, x, n, t: 2 * tb.normal_derivative(u)(x, n) + x[1] * u(x) - t),
            X[:, 1],
            2.0,
            T,
        ),
    ],
)
def test_linear_conditions(condition, a, b, v):
    found_a, found_b, residual, kind = values(condition)
    np.testing.assert_allclose(found_a[:, 0], np.broadcast_to(a, 3), atol=1e-14)
    np.testing.assert_allclose(found_b[:, 0], np.broadcast_to(b, 3), atol=1e-14)
    np.testing.assert_allclose(residual[:, 0], -np.broadcast_to(v, 3), atol=1e-14)
    assert kind.affine


def test_what_of_a_condition_changes_with_time():
    kind = lambda condition: values(condition)[3]
    assert kind(tb.Dirichlet(3.0)).constant_offset
    assert kind(tb.Dirichlet(lambda x: x[0])).constant_offset
    moving = kind(tb.Dirichlet(lambda x, t: t))
    assert moving.constant_matrix and not moving.constant_offset
    assert not kind(tb.Robin(lambda x, t: t, 1.0, 0.0)).constant_matrix


def test_radiation_around_a_state():
    condition = tb.Condition(lambda u, x, n, t: tb.normal_derivative(u)(x, n) + u(x) ** 4 - x[0])
    value, along = np.array([[1.0], [2.0], [0.5]]), np.array([[3.0], [0.0], [-1.0]])
    a, b, residual, kind = values(condition, (value, along))
    np.testing.assert_allclose(a, 4 * value**3)
    np.testing.assert_allclose(b, 1.0)
    np.testing.assert_allclose(residual, along + value**4 - X[:, :1])
    assert not kind.affine


def test_conditions_of_a_system():
    condition = tb.Robin(a=[1.0, 2.0], b=[0.0, 0.5], v=[3.0, -1.0])
    a, b, residual, _ = values(condition, components=2)
    np.testing.assert_allclose(a, np.tile([1.0, 2.0], (3, 1)))
    np.testing.assert_allclose(b, np.tile([0.0, 0.5], (3, 1)))
    np.testing.assert_allclose(residual, np.tile([-3.0, 1.0], (3, 1)))
    diagonal = tb.Robin(a=[[1.0, 0.0], [0.0, 2.0]], b=0.0, v=0.0)
    np.testing.assert_allclose(values(diagonal, components=2)[0], np.tile([1.0, 2.0], (3, 1)))


# What kind of law.


@pytest.mark.parametrize(
    "equation, affine, matrix, offset",
    [
        (tb.Heat(1.0), True, True, True),
        (tb.Heat(lambda x, t: 1 + t), True, False, True),
        (tb.Heat(1.0) + tb.Source(lambda x, t: t * x[0]), True, True, False),
        (tb.ReactionDiffusion(0.1, lambda u: u**2), False, True, True),
    ],
)
def test_structure(equation, affine, matrix, offset):
    kind = laws(equation).equation_structure
    assert (kind.affine, kind.constant_offset) == (affine, offset)
    assert not affine or kind.constant_matrix == matrix
