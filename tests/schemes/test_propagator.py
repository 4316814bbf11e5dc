"""A step as one matrix is the step of the stages, whatever moves in time."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.projection.linear import LinearSpace
from tengbc.schemes import RadauIIA, State


def moving_source(x, t):
    return jnp.sin(3 * t) * x[0]


def moving_value(x, t):
    return jnp.cos(2 * t) * x[1]


CASES = {
    "nothing moves": (0.7, lambda x: 0.3 * x[1]),
    "the source moves": (moving_source, lambda x: 0.3 * x[1]),
    "the data move": (0.7, moving_value),
    "both move": (moving_source, moving_value),
}


def space_of(source, value, repeated_steps=()) -> LinearSpace:
    domain = tb.Disk(1.0)
    problem = tb.Problem(
        domain,
        tb.Heat(0.2) + tb.Source(source),
        {"circle": tb.Robin(1.0, 0.4, value)},
        lambda x: jnp.exp(-jnp.sum(x**2)),
    )
    network = tb.random_features(domain, 60)
    points = domain.interior(180), [domain.boundary("circle", 40)]
    return LinearSpace(problem, network, *points, repeated_steps=repeated_steps)


@pytest.mark.parametrize("stages", [2, 5])
@pytest.mark.parametrize("case", CASES)
def test_the_matrix_does_what_the_stages_do(case, stages):
    dt, scheme = 0.05, RadauIIA(stages)
    plain, prepared = (space_of(*CASES[case], repeated_steps=steps) for steps in ((), (dt,)))
    target = plain.collocation.problem.initial(plain.collocation.interior.x)[:, None]
    start = State(plain.project(plain.collocation.parameters.start, target, 0.0).theta)
    one = other = start
    for n in range(6):
        one, _ = scheme.step(plain, one, n * dt, dt, ())
        other, _ = scheme.step(prepared, other, n * dt, dt, ())
    difference = plain.values(one.theta) - plain.values(other.theta)
    # The features are all but dependent: rounding is magnified to some 1e-11 either way.
    assert np.abs(difference).max() <= 1e-9 * np.abs(plain.values(one.theta)).max()
    assert np.abs(plain.values(one.theta) - plain.values(start.theta)).max() > 0.01
    assert prepared._kept and not plain._kept


def test_other_steps_than_the_repeated_one_are_made_stage_by_stage():
    space = space_of(0.0, 0.0, repeated_steps=(0.05,))
    RadauIIA(3).step(space, State(space.collocation.parameters.start), 0.0, 0.02, ())
    assert not space._kept


def test_new_matrices_need_a_new_propagator():
    space = space_of(0.0, 0.0, repeated_steps=(0.05,))
    RadauIIA(3).step(space, State(space.collocation.parameters.start), 0.0, 0.05, ())
    assert space._kept
    space.linearise(0.1, np.zeros(space.unknowns))
    assert not space._kept
