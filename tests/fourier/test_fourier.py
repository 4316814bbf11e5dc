"""Lattices, values between their points, and equations by local polynomials."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.equations.local import Derivatives, local_rates, needed_derivatives
from tengbc.fourier import Interpolation, Lattice

SHAPES = {1: (24,), 2: (20, 32), 3: (12, 16, 10)}


def some_waves(dim):
    """A lattice, a field of waves that it keeps, and that field as a function of x."""
    rng = np.random.default_rng(dim)
    lattice = Lattice(tuple(rng.normal(size=dim)), tuple(rng.uniform(1, 3, dim)), SHAPES[dim])
    most = np.array(lattice.shape) // 3 - 1
    numbers = rng.integers(-most, most + 1, size=(6, dim))
    size, phase = rng.normal(size=(2, 6))
    unit = 2 * np.pi / np.array(lattice.lengths)

    def field(x):
        return np.cos((x - lattice.lower) @ (numbers * unit).T + phase) @ size

    on_lattice = field(lattice.points.reshape(dim, -1).T).reshape(lattice.shape)
    return lattice, on_lattice, field


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_values_between_the_points(dim):
    lattice, values, field = some_waves(dim)
    x = np.random.default_rng(9).uniform(-5, 5, (400, dim))
    found = Interpolation(lattice, x)(lattice.forward(values)[None])
    np.testing.assert_allclose(found[0], field(x), atol=1e-11)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_other_lattices_hold_the_same_waves(dim):
    lattice, values, field = some_waves(dim)
    finer = Lattice(lattice.lower, lattice.lengths, tuple(n + 6 for n in lattice.shape))
    modes = lattice.resample(lattice.forward(values), finer)
    expected = field(finer.points.reshape(dim, -1).T).reshape(finer.shape)
    np.testing.assert_allclose(finer.backward(modes), expected, atol=1e-12)
    back = finer.resample(modes, lattice)
    np.testing.assert_allclose(back, lattice.forward(values), atol=1e-10)


def test_the_tail_is_the_part_of_the_shortest_waves():
    lattice = Lattice((0.0,), (2 * np.pi,), (60,))  # waves up to 19 are kept
    x = lattice.points[0]
    modes = lattice.forward(3 * np.sin(4 * x) + 4e-5 * np.cos(19 * x))
    assert lattice.tail(modes) == pytest.approx(4e-5 / 3, rel=1e-6)
    coarse = Lattice((0.0,), (2 * np.pi,), (48,))  # up to 15; an even field has none of those
    modes = coarse.forward(3 * np.cos(4 * coarse.points[0]) + 4e-5 * np.cos(14 * coarse.points[0]))
    assert coarse.tail(modes) == pytest.approx(4e-5 / 3, rel=1e-6)


CASES = {
    "none": (tb.Reaction(lambda u: u**2), Derivatives.NONE),
    "source": (tb.Source(lambda x, t: x[0] * t), Derivatives.NONE),
    "gradient": (tb.Transport(lambda x: x), Derivatives.GRADIENT),
    "laplacian": (tb.Heat(lambda x, t: x[0] + t) + tb.Burgers(0.1), Derivatives.LAPLACIAN),
    "hessian": (
        tb.Equation(lambda u, x, t: jax.hessian(u)(x)[0, 1] * u(x)),
        Derivatives.HESSIAN,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_equation_is_known_from_values_and_derivatives(name):
    equation, needed = CASES[name]
    assert needed_derivatives(equation, 2, ()) == needed
    u = lambda x: jnp.sin(x[0]) * jnp.exp(0.3 * x[1])
    x = np.random.default_rng(0).normal(size=(50, 2))
    derivatives = lambda z: (u(z), jax.grad(u)(z), jax.hessian(u)(z))
    value, slope, bend = jax.jit(jax.vmap(derivatives))(x)
    if needed == Derivatives.LAPLACIAN:
        bend = jnp.trace(bend, axis1=1, axis2=2)[:, None, None] * jnp.eye(2)[None] / 2
    found = jax.jit(local_rates(equation))(value, slope, bend, x, 0.7)
    expected = jax.jit(jax.vmap(lambda z: equation.rhs(u, z, 0.7)))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
