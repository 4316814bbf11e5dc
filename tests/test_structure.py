"""What the traced program of a law tells: linear or not, and what changes with time."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.structure import Structure, structure

POINT, NORMAL = np.array([0.3, 0.4]), np.array([0.6, 0.8])
STEADY = Structure(affine=True, constant_matrix=True, constant_offset=True)
MOVING_DATA = Structure(affine=True, constant_matrix=True, constant_offset=False)
MOVING = Structure(affine=True, constant_matrix=False, constant_offset=False)
"""t·0 counts as an offset that moves: what is used without effect counts as used."""


def of_equation(equation, shape=()):
    rhs = equation.rhs if hasattr(equation, "rhs") else equation
    return structure(rhs, shape, POINT)


def of_condition(condition, shape=()):
    law = condition.residual if hasattr(condition, "residual") else condition
    return structure(law, shape, POINT, NORMAL)


EQUATIONS = {
    "κ a number": (tb.Heat(0.1), STEADY),
    "κ(x)": (tb.Heat(lambda x: 1 + x[0] ** 2), STEADY),
    "κ(x, t)": (tb.Heat(lambda x, t: 1 + x[0] * t), MOVING),
    "κ(x, t) that ignores t": (tb.Heat(lambda x, t: 1 + x[0]), STEADY),
    "f a number": (tb.Heat(0.1) + tb.Source(2.0), STEADY),
    "f(x)": (tb.Heat(0.1) + tb.Source(lambda x: x[0]), STEADY),
    "f(x, t)": (tb.Heat(0.1) + tb.Source(lambda x, t: x[0] * jnp.cos(t)), MOVING_DATA),
    "κ(x, t) and f(x, t)": (
        tb.Heat(lambda x, t: 1 + t) + tb.Source(lambda x, t: jnp.sin(t)),
        MOVING,
    ),
    "velocity(x)": (tb.Transport(lambda x: jnp.stack([x[1], -x[0]])), STEADY),
    "velocity(x, t)": (
        tb.Transport(lambda x, t: jnp.stack([t, 1 - t])),
        Structure(True, False, True),
    ),
    "∇·(κ∇u)": (
        lambda u, x, t: tb.divergence(lambda y: (1 + y[0]) * tb.gradient(u)(y))(x),
        STEADY,
    ),
    "|∇| of x, not of u": (lambda u, x, t: jnp.linalg.norm(x) * u(x), STEADY),
    "t·u": (lambda u, x, t: t * u(x), MOVING),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations_that_are_affine(name):
    equation, expected = EQUATIONS[name]
    assert of_equation(equation) == expected


NONLINEAR = {
    "u³": lambda u, x, t: tb.laplacian(u)(x) - u(x) ** 3,
    "u²": lambda u, x, t: u(x) ** 2,
    "u·∂u": lambda u, x, t: -u(x) * tb.gradient(u)(x)[0],
    "|∇u|²": lambda u, x, t: jnp.sum(tb.gradient(u)(x) ** 2),
    "κ(u)": lambda u, x, t: (1 + u(x)) * tb.laplacian(u)(x),
    "|u|": lambda u, x, t: jnp.abs(u(x)),
    "max(u, 0)": lambda u, x, t: jnp.maximum(u(x), 0.0),
    "where(u > 0, u, 0)": lambda u, x, t: jnp.where(u(x) > 0, u(x), 0.0),
    "where(u > 0, Δu, 2Δu)": lambda u, x, t: jnp.where(u(x) > 0, 1.0, 2.0) * tb.laplacian(u)(x),
    "u/(1 + u²)": lambda u, x, t: u(x) / (1 + u(x) ** 2),
    "sin u": lambda u, x, t: jnp.sin(u(x)),
    "1 where u > 0": lambda u, x, t: jnp.where(u(x) > 0, 1.0, 0.0),
    "sign u": lambda u, x, t: tb.laplacian(u)(x) + jnp.sign(u(x)),
    "round u": lambda u, x, t: jnp.round(u(x)),
    "u² held fixed": lambda u, x, t: jax.lax.stop_gradient(u(x) ** 2),
    "a switch inside": lambda u, x, t: jax.jit(lambda v: jnp.where(v > 0.5, 1.0, 0.0))(u(x)),
    "lax.cond on u": lambda u, x, t: jax.lax.cond(u(x) > 0, lambda v: v, lambda v: 2 * v, u(x)),
}


@pytest.mark.parametrize("name", NONLINEAR)
def test_laws_that_are_not_affine(name):
    law = NONLINEAR[name]
    assert not of_equation(law).affine
    assert not of_equation(tb.Equation(jax.jit(law, static_argnums=0))).affine
    assert not of_condition(lambda u, x, normal, t: law(u, x, t)).affine


def test_equations_of_the_package():
    assert not of_equation(tb.Burgers(0.01)).affine
    assert not of_equation(tb.AllenCahn(0.01)).affine


CONDITIONS = {
    "u = 0": (tb.Dirichlet(0.0), STEADY),
    "u = v(x)": (tb.Dirichlet(lambda x: x[0]), STEADY),
    "u = v(x, t)": (tb.Dirichlet(lambda x, t: x[0] * t), MOVING_DATA),
    "∂ₙu = v(x, t)": (tb.Neumann(lambda x, t: x[0] * t), MOVING_DATA),
    "a(x), b(x)": (tb.Robin(lambda x: 1 + x[0], lambda x: 2 + x[1], 1.0), STEADY),
    "a(x, t)": (tb.Robin(lambda x, t: 1 + t, 1.0, 1.0), MOVING),
    "b(x, t)": (tb.Robin(1.0, lambda x, t: 1 + t, 1.0), MOVING),
    "a(x, t), b(x, t), v(x, t)": (
        tb.Robin(lambda x, t: 1 + t, lambda x, t: 2 + t, lambda x, t: t),
        MOVING,
    ),
    "own, linear": (
        tb.Condition(lambda u, x, n, t: u(x) + 2 * tb.normal_derivative(u)(x, n) - x[0]),
        STEADY,
    ),
    "own, data in time": (
        tb.Condition(lambda u, x, n, t: tb.normal_derivative(u)(x, n) - jnp.exp(-t)),
        MOVING_DATA,
    ),
    "own, tangential": (
        tb.Condition(lambda u, x, n, t: tb.gradient(u)(x)[0] * n[1] - tb.gradient(u)(x)[1] * n[0]),
        STEADY,
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_that_are_affine(name):
    condition, expected = CONDITIONS[name]
    assert of_condition(condition) == expected


def test_a_condition_that_is_not_affine():
    radiation = tb.Condition(lambda u, x, n, t: tb.normal_derivative(u)(x, n) + u(x) ** 4 - t)
    found = of_condition(radiation)
    assert not found.affine and not found.constant_offset


@pytest.mark.parametrize(
    "wrap", [jax.jit, lambda f: jax.jit(jax.jit(f)), jax.checkpoint], ids=["jit", "twice", "remat"]
)
def test_compiled_functions_of_the_user_are_looked_into(wrap):
    assert of_equation(tb.Heat(wrap(lambda x: 1 + jnp.sin(x[0])))) == STEADY
    assert of_equation(tb.Heat(wrap(lambda x, t: 1 + jnp.sin(x[0] + t)))) == MOVING
    assert of_equation(tb.Heat(0.1) + tb.Source(wrap(lambda x, t: x[0] + t))) == MOVING_DATA
    assert not of_equation(lambda u, x, t: wrap(lambda v: v**3)(u(x))).affine


def test_a_compiled_law_keeps_its_structure():
    @functools.partial(jax.jit)
    def scaled(value, x, t):
        return (1 + x[0]) * value + t

    assert of_equation(lambda u, x, t: scaled(tb.laplacian(u)(x), x, t)) == MOVING_DATA


def test_systems():
    def wave(u, x, t):
        du = tb.gradient(u)(x)
        return jnp.stack([-du[1, 0] - du[2, 1], -du[0, 0], -du[0, 1]])

    assert of_equation(wave, (3,)) == STEADY
    assert not of_equation(lambda u, x, t: wave(u, x, t) * u(x)[0], (3,)).affine
    # A product of two different components is linear in each, but not in both.
    assert not of_equation(lambda u, x, t: u(x)[jnp.array([1, 0])] * u(x), (2,)).affine
    assert of_condition(lambda u, x, n, t: u(x)[0], (3,)) == STEADY
    assert of_condition(tb.Robin(a=[[1.0, 0.0, 2.0]], b=0.0, v=lambda x, t: t), (3,)) == MOVING_DATA


def test_never_taken_for_linear_or_steady_by_chance():
    """Terms that vanish, or have no slope, at the trial function, at the point or at t = 0."""
    assert not of_equation(lambda u, x, t: 1e-30 * u(x) ** 2).affine
    assert not of_equation(lambda u, x, t: (x[0] - POINT[0]) * u(x) ** 2).affine
    assert not of_equation(lambda u, x, t: t * u(x) ** 2).affine
    assert not of_equation(lambda u, x, t: t**2 * u(x)).constant_matrix
    assert not of_equation(tb.Source(lambda x, t: jnp.where(t > 5, 1.0, 0.0))).constant_offset
    assert not of_equation(lambda u, x, t: jnp.where(t > 5, 2.0, 1.0) * u(x)).constant_matrix
