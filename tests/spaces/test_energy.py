"""The space of patches with Radau's scheme: orders in time, nonlinear laws, projections."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.schemes import RadauIIA
from tengbc.spaces import State
from tests.orders.manufactured import slope
from tests.patches.spaces import even, space, uneven
from tests.solver.manufactured_problems import manufactured

LINE = tb.Interval(-0.3, 1.1)
ENDS = {"left": (1.0, 0.0), "right": (2.0, 0.5)}


def swinging(x, t):
    """Of degree three in x, so that all error is in time."""
    return 2.0 + jnp.cos(2 * t) + x[0] * jnp.sin(3 * t + 0.3) + x[0] ** 3 * jnp.cos(t)


def error(found, problem, scheme, steps, t_end=1.0):
    """‖u − u*‖/‖u*‖ at the end, by the projection of the exact solution."""
    state = State(found.fitted(problem.initial))
    for n in range(steps):
        state, _ = scheme.step(found, state, t_end * n / steps, t_end / steps, ())
    truth = found.fitted(lambda x: problem.exact(x, t_end))
    return float(np.linalg.norm(state.theta - truth) / np.linalg.norm(truth))


def radiating(u, x, normal, t):
    """∂ₙu + u³ = what the solution has."""
    exact = lambda y: swinging(y, t)
    law = lambda w: tb.normal_derivative(w)(x, normal) + w(x) ** 3 / 10
    return law(u) - law(exact)


@cache
def case(name):
    equations = {
        "linear": tb.Heat(0.3),
        "flow": tb.Heat(0.1) + tb.Transport([0.7]),
        "κ(t)": tb.Heat(lambda x, t: 0.3 + 0.2 * jnp.sin(3 * t)),
        "κ(x, t)": tb.Heat(lambda x, t: 0.3 + 0.1 * x[0] * t),
        "reaction": tb.ReactionDiffusion(0.3, lambda u: u - u**3 / 10),
        "radiation": tb.Heat(0.3),
        "drift": tb.Equation(
            lambda u, x, t: 0.3 * tb.laplacian(u)(x) - 0.3 * u(x) * jax.grad(u)(x)[0]
        ),
    }
    problem = manufactured(LINE, equations[name], ENDS, swinging)
    if name == "radiation":
        conditions = {**problem.conditions, "right": tb.Condition(radiating)}
        problem = tb.Problem(LINE, problem.equation, conditions, problem.initial_function, swinging)
    return problem, space(problem, even(LINE, 9 if name in ("reaction", "drift") else 4))


NAMES = ["linear", "flow", "κ(t)", "κ(x, t)", "reaction", "radiation", "drift"]


@pytest.mark.parametrize("name", NAMES)
def test_order_in_time(name):
    """At least s + 1, with data and sources that move."""
    problem, found = case(name)
    assert found.affine == (name not in ("reaction", "radiation", "drift"))
    assert found.linear == (name in ("linear", "flow"))
    scheme, steps = RadauIIA(3), (6, 12)
    errors = [error(found, problem, scheme, n) for n in steps]
    assert errors[-1] < 1e-5
    assert slope(errors, steps) > 3.6
    assert error(found, problem, RadauIIA(5), 10) < 1e-8


def test_many_equal_steps_are_the_same_as_single_ones():
    problem, found = case("linear")
    scheme = RadauIIA(3)
    many = scheme.prepare(found, 0.1, many=True)
    one = scheme.prepare(found, 0.1)
    state = State(found.fitted(problem.initial))
    np.testing.assert_allclose(many(state, 0.2)[0].theta, one(state, 0.2)[0].theta, atol=1e-13)


@pytest.mark.parametrize("dense, sparse", [(0, 0), (0, 10_000), (10_000, 10_000)])
def test_dense_and_sparse_solvers_agree(dense, sparse, monkeypatch):
    """(1 + τK)c = r, symmetric or not, for real and complex τ."""
    monkeypatch.setattr("tengbc.spaces.energy.DENSE", dense)
    monkeypatch.setattr("tengbc.spaces.energy.SPARSE", sparse)
    rng = np.random.default_rng(0)
    for equation in (tb.Heat(0.3), tb.Heat(0.1) + tb.Transport([0.7])):
        found = space(manufactured(LINE, equation, ENDS, swinging), even(LINE, 4))
        assert found.symmetric == (equation.uniform and not hasattr(equation, "parts"))
        right, matrix = rng.normal(size=found.form.size), found.stiffness.toarray()
        for tau in (0.3, 0.2 + 0.1j):
            c = found.solve(tau, right.astype(type(tau)), np.zeros(0))
            np.testing.assert_allclose(c + tau * (matrix @ c), right, atol=1e-10)


def test_heads_and_parameters():
    """u of two components at points is what the unknowns say, patch by patch."""
    domain = tb.Disk(1.0, (0.2, 0.1))
    exact = lambda x, t: jnp.stack([1 + x[0] * x[1], x[0] - x[1] ** 2])
    problem = manufactured(domain, tb.Heat(1.0), {"circle": (1.0, 0.0)}, exact)
    found = space(problem, uneven(domain, (2, 3)))
    theta = found.fitted(problem.initial)
    assert np.array_equal(found.theta(found.head(theta)), theta)
    x = domain.interior(60).x
    body, head = found.network.body, theta[: 2 * found.patches.table.unknowns].reshape(2, -1)
    np.testing.assert_allclose(body.combine(head, x), problem.initial(x), atol=1e-11)
    squares = domain.interior(rule="gauss", order=8)
    size = np.sqrt(squares.w @ np.sum(problem.initial(squares.x) ** 2, axis=1) / domain.measure)
    assert found.size(theta) == pytest.approx(size, rel=1e-10)


def exchange(u, x, t):
    """Two components that diffuse apart and turn into each other."""
    v, second = u(x), tb.laplacian(u)(x)
    return jnp.stack([0.1 * second[0] - v[0] + 2 * v[1] * x[0], 0.4 * second[1] + v[0] - 3 * v[1]])


@pytest.mark.parametrize("cubic", [False, True])
def test_a_system(cubic):
    def exact(x, t):
        return jnp.stack([swinging(x, t), x[0] ** 2 * jnp.sin(t) + jnp.cos(2 * t)])

    rate = lambda u, x, t: exchange(u, x, t) - (u(x)[::-1] ** 3 / 20 if cubic else 0.0)
    problem = manufactured(LINE, tb.Equation(rate), ENDS, exact)
    found = space(problem, even(LINE, 9 if cubic else 4))
    errors = [error(found, problem, RadauIIA(3), n) for n in (6, 12)]
    assert errors[-1] < 1e-5 and slope(errors, (6, 12)) > 3.6


def test_what_is_remembered_gives_the_same_bits():
    problem, found = case("reaction")
    scheme = RadauIIA(3, estimates=True)
    state = State(found.fitted(problem.initial))
    found.linearise(0.1, found.head(state.theta))
    memory = {name: value.copy() for name, value in found.memory().items()}
    expected, (fit,) = scheme.step(found, state, 0.1, 0.05, ())
    other = space(problem, found.patches)
    other.linearise(0.0, np.zeros_like(found.head(state.theta)))
    assert not np.array_equal(scheme.step(other, state, 0.1, 0.05, ())[0].theta, expected.theta)
    other.remember(memory)
    again, (same,) = scheme.step(other, state, 0.1, 0.05, ())
    assert np.array_equal(again.theta, expected.theta) and same.step_error == fit.step_error


# Projections.


def test_the_projection_of_a_jump():
    """∫ field·φ for a field that jumps within a patch, against integrals by parts."""
    _, found = case("linear")
    where, tolerance = 0.123456, 1e-6
    field = lambda x: np.where(x[:, 0] < where, 1.0 + x[:, 0], -2.0)
    theta = found.fitted(field, tolerance)
    expected = np.zeros(found.patches.table.unknowns)
    s, w = np.polynomial.legendre.leggauss(12)
    for a, b in ((-0.3, where), (where, 0.4), (0.4, 1.1)):  # patches meet at 0.4
        x = (a + b) / 2 + (b - a) / 2 * s[:, None]
        features = found.patches.table.combine(np.eye(len(expected)), x)
        expected += features.T @ ((b - a) / 2 * w * field(x))
    np.testing.assert_allclose(theta[: len(expected)], expected, atol=3e-4)
    assert np.abs(found.fitted(field)[: len(expected)] - expected).max() > 1e-2
    fine = found.fitted(field, 1e-12)
    np.testing.assert_allclose(fine[: len(expected)], expected, atol=1e-6)


def test_the_projection_of_a_jump_in_the_plane():
    """Its mean is that of the field: the part of a disk left of a line."""
    domain = tb.Disk()
    found = space(
        manufactured(domain, tb.Heat(1.0), {"circle": (1.0, 0.0)}, lambda x, t: x[0]),
        even(domain, 2),
    )
    theta = found.fitted(lambda x: np.where(x[:, 0] < 0.3, 1.0, 0.0), 1e-4)
    values = found.form.within.split(found.form.at_nodes(found.head(theta)))
    mean = sum(
        np.sum(batch.w[..., None] * part)
        for batch, part in zip(found.patches.batches, values, strict=True)
    )
    exact = np.pi - (np.arccos(0.3) - 0.3 * np.sqrt(1 - 0.09))
    assert mean == pytest.approx(exact, abs=3e-3)


HOLED = tb.Polygon([(0, 0), (1.3, 0), (1, 1), (0, 1)], holes=[tb.Disk(0.2, (0.5, 0.4))])


def holed(equation, field):
    laws = {segment: (1.0, 0.3) for segment in HOLED.segments} | {"hole0": (1.0, 0.0)}
    return manufactured(HOLED, equation, laws, field)


def test_a_coarser_space_has_some_of_the_features():
    """Those of patches that are made with fewer degrees; the rest is orthogonal to them."""
    problem = holed(tb.Heat(0.4), lambda x, t: jnp.sin(3 * x[0] + x[1]) + t)
    coarse = space(problem, uneven(HOLED, (5, 6, 7))).coarser(2)
    direct = space(problem, uneven(HOLED, (3, 4, 5)))
    x, whole = HOLED.interior(200).x, coarse.finer
    theta = whole.theta(whole.head(whole.fitted(problem.initial)))
    kept = coarse.theta(whole.head(theta)[coarse.places_in_finer])
    found = coarse.parameters.network(kept).evaluate(x)
    expected = direct.parameters.network(direct.fitted(problem.initial)).evaluate(x)
    np.testing.assert_allclose(found, expected, atol=1e-6)  # rules of fewer nodes for the sine
    assert coarse.form.size == direct.form.size < whole.form.size


def test_a_coarser_space_solves_what_its_features_hold():
    """With its part of the finer space's matrices: a field of degree three, on degrees 3 to 5."""
    problem = holed(tb.Heat(0.4) + tb.Transport([0.3, -0.2]), lambda x, t: swinging(x, 0.0) * x[1])
    for found in (coarse := space(problem, uneven(HOLED, (6, 7))).coarser(2), coarse.finer):
        step = RadauIIA(3).prepare(found, 0.1)
        start = found.fitted(problem.initial)
        state, _ = step(State(start), 0.0)
        np.testing.assert_allclose(state.theta, start, atol=1e-8)


def test_a_coarser_space_of_a_law_that_is_not_linear_is_assembled_anew():
    problem = holed(tb.Heat(0.4) + tb.Reaction(lambda u: u**2), lambda x, t: x[0] + t)
    coarse = space(problem, uneven(HOLED, (5, 6))).coarser(2)
    direct = space(problem, uneven(HOLED, (3, 4)))
    scale = abs(direct.stiffness).max()
    assert abs(coarse.stiffness - direct.stiffness).max() <= 1e-6 * scale


@pytest.mark.parametrize("reacts", [False, True])
def test_a_coarser_space_begins_without_a_layer(reacts):
    """Its rates in a first step are those of the finer space, which its own features' are not."""
    equation = tb.ReactionDiffusion(0.4, lambda u: u - u**3) if reacts else tb.Heat(0.4)
    problem = holed(equation, lambda x, t: jnp.sin(3 * x[0] + x[1]) + t)
    fine = space(problem, uneven(HOLED, (5, 6, 7)))
    coarse, tau = fine.coarser(2), 0.02
    c = fine.head(fine.fitted(problem.initial))
    places = coarse.places_in_finer

    def after(found, unknowns):
        """v − τ·v̇, by the laws themselves."""
        return unknowns - tau * found.rates(found.theta(unknowns), 0.0)[:, 0]

    found, wanted = coarse.nearest(c, tau), after(fine, c)[places]
    missed = np.linalg.norm(after(coarse, found) - wanted) / np.linalg.norm(wanted)
    cut_off = np.linalg.norm(after(coarse, c[places]) - wanted) / np.linalg.norm(wanted)
    # What is not linear is linearised around the initial values, so it is a step of Newton.
    assert missed < (1e-3 if reacts else 1e-6) * cut_off and cut_off > 1e-4
