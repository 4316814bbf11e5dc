"""P6: each user function × stage × first, middle and last point; function, time and point named.

All functions of a problem are spoiled, each at times of its own, so that one compiled program
serves the whole grid: the step of case k begins at t = k.
"""

import functools
import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import NonFiniteError
from tengbc.projection import Collocation, SubsetProjection
from tengbc.schemes import (
    EULER,
    HEUN,
    RK4,
    AdamsBashforth,
    BackwardDifferences,
    RadauIIA,
    RungeKutta,
)
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.spaces import LinearSpace, NetworkSpace, State

DT = 0.25
DOMAIN = tb.Rectangle((0.0, 0.0), (1.0, 1.0))
INTERIOR = DOMAIN.interior(25)
BOUNDARY = boundary_points(DOMAIN, 20)
PLACES = {points.segment: points.x for points in BOUNDARY} | {"inside": INTERIOR.x}
STAGES = np.unique(np.concatenate([[0.0, 0.5, 1.0], RadauIIA(3).nodes])).tolist()
POINTS = {"first": 0.0, "middle": 0.5, "last": 1.0}
BAD = itertools.cycle([np.nan, np.inf, -np.inf])

# What a user may write, and where it is evaluated.
FUNCTIONS = {
    **{name: "inside" for name in ("diffusivity", "velocity", "source", "rate of reaction")},
    "value on the left": "left",
    "slope on the right": "right",
    **{name: "bottom" for name in ("a of Robin", "b of Robin", "v of Robin")},
    "residual at the top": "top",
}
AFFINE = ("source", "value on the left", "slope on the right", "v of Robin")
"""Those that leave the matrices as they are: other code looks at them."""
CASES = {
    case: (k + 1, next(BAD))
    for k, case in enumerate((f, s, p) for f in FUNCTIONS for s in STAGES for p in POINTS)
}


def place(function, point):
    points = PLACES[FUNCTIONS[function]]
    return points[round(POINTS[point] * (len(points) - 1))]


def spoiled(name, value):
    """value(x, t), but not finite at the points and times of the cases of that function."""
    mine = [(case, known) for case, known in CASES.items() if case[0] == name]
    times = np.array([k + stage * DT for (_, stage, _), (k, _) in mine])
    places = np.array([place(name, point) for (_, _, point), _ in mine])
    bad = np.array([worse for _, (_, worse) in mine])

    def function(x, t):
        hit = jnp.all(jnp.abs(x - places) < 1e-12, axis=1) & (jnp.abs(t - times) < 1e-9)
        return jnp.where(jnp.any(hit), jnp.asarray(bad)[jnp.argmax(hit)], value)

    return function


def problem(names):
    f = {name: spoiled(name, 0.1) if name in names else (lambda x, t: 0.1) for name in FUNCTIONS}

    def velocity(x, t):
        return jnp.stack([f["velocity"](x, t), jnp.asarray(0.1)])

    def top(u, x, normal, t):
        return u(x) - f["residual at the top"](x, t) * jnp.sin(u(x))

    plain = [tb.Heat(0.1), tb.Transport([0.1, 0.1]), tb.Reaction(lambda u: -0.1 * u)]
    moving = [
        tb.Heat(f["diffusivity"]),
        tb.Transport(velocity),
        tb.Equation(lambda u, x, t: f["rate of reaction"](x, t) * u(x) ** 2),
    ]
    whole = "diffusivity" in names
    first, second, third = moving if whole else plain
    return tb.Problem(
        DOMAIN,
        first + second + third + tb.Source(f["source"]),
        {
            "left": tb.Dirichlet(f["value on the left"]),
            "right": tb.Neumann(f["slope on the right"]),
            "bottom": tb.Robin(
                f["a of Robin"] if whole else 0.1,
                f["b of Robin"] if whole else 0.1,
                f["v of Robin"],
            ),
            "top": top if whole else tb.Dirichlet(0.0),
        },
        lambda x: 0.1 * jnp.sin(3 * x[0]) * x[1],
    )


def network_space(names):
    network = tb.mlp(DOMAIN, widths=(4,))
    rows = Collocation(problem(names), network, INTERIOR, BOUNDARY)
    return NetworkSpace(rows, SubsetProjection(iterations=1, subset=10))


def linear_space(names):
    return LinearSpace(problem(names), tb.random_features(DOMAIN, 10), INTERIOR, BOUNDARY)


SPACES = {
    "network": (network_space, tuple(FUNCTIONS)),
    "features": (linear_space, tuple(FUNCTIONS)),
    "features, matrices kept": (linear_space, AFFINE),
}
EXPLICIT = (*(RungeKutta(each) for each in (EULER, HEUN, RK4)), AdamsBashforth(2))
IMPLICIT = (RadauIIA(3), BackwardDifferences(1), BackwardDifferences(2, imex=True))
SCHEMES = {"network": EXPLICIT, "features": (*EXPLICIT[2:], *IMPLICIT)}
SCHEMES["features, matrices kept"] = SCHEMES["features"]
GRID = [(space, scheme) for space in SPACES for scheme in SCHEMES[space]]


@functools.cache
def compiled(space):
    make, names = SPACES[space]
    return make(names)


def stages(scheme, function):
    """When a scheme looks at a function, in units of the step: at the start, stages, the end."""
    inside = FUNCTIONS[function] == "inside"
    if isinstance(scheme, RungeKutta):
        times = scheme.tableau.c
        return {*times} if inside else {*times[1:], 1.0}
    if isinstance(scheme, AdamsBashforth):
        return {0.0} if inside else {1.0}
    return set(scheme.nodes) if isinstance(scheme, RadauIIA) else {1.0}


def begun(scheme, space):
    """A state in the middle of a march: multistep schemes have their history."""
    theta = space.collocation.parameters.start + 0.01
    if isinstance(scheme, AdamsBashforth):
        return State(theta, (0.1 * np.ones((len(INTERIOR), 1)),))
    if isinstance(scheme, BackwardDifferences):
        return State(theta, (space.head(theta),) * (scheme.order - 1))
    return State(theta)


@pytest.mark.parametrize(
    ("name", "scheme"), GRID, ids=lambda given: given if isinstance(given, str) else given.name
)
def test_the_whole_grid(name, scheme):
    where, names, count = compiled(name), SPACES[name][1], 0
    state = begun(scheme, where)
    kept = state.theta.copy()
    assert np.isfinite(scheme.step(where, state, -5.0, DT, (0, 1))[0].theta).all()
    for (function, stage, point), (k, _) in CASES.items():
        if function not in names:
            continue
        if not any(abs(stage - seen) < 1e-12 for seen in stages(scheme, function)):
            continue
        with pytest.raises(NonFiniteError) as error:
            scheme.step(where, state, float(k), DT, (0, 1))
        said, x = str(error.value), place(function, point)
        assert f"is not finite at t = {k + stage * DT:.6g}, x = ({x[0]:.6g}, {x[1]:.6g}); " in said
        segment = FUNCTIONS[function]
        assert said.startswith("The equation's " if segment == "inside" else "The ")
        assert segment == "inside" or f"condition on {segment} " in said
        np.testing.assert_array_equal(state.theta, kept)
        count += 1
    assert count >= 3 * len(names)


@pytest.mark.parametrize("point", POINTS)
def test_initial_values(point):
    bad = place("source", point)
    laws = dict.fromkeys(DOMAIN.segments, tb.Dirichlet(0.0))
    wrong = tb.Problem(
        DOMAIN, tb.Heat(1.0), laws, lambda x: jnp.where(jnp.all(x == bad), jnp.nan, 1.0)
    )
    with pytest.raises(NonFiniteError, match=r"The initial condition is not finite at t = 0") as e:
        initial_values(wrong, INTERIOR)
    assert f"x = ({bad[0]:.6g}, {bad[1]:.6g})" in str(e.value)
