"""A step as one matrix is the step of the stages, whatever moves in time."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.schemes import RadauIIA
from tengbc.spaces import State
from tengbc.spaces.linear import LinearSpace


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


def space_of(source, value) -> LinearSpace:
    domain = tb.Disk(1.0)
    problem = tb.Problem(
        domain,
        tb.Heat(0.2) + tb.Source(source),
        {"circle": tb.Robin(1.0, 0.4, value)},
        lambda x: jnp.exp(-jnp.sum(x**2)),
    )
    network = tb.random_features(domain, 60)
    points = domain.interior(180), [domain.boundary("circle", 40)]
    return LinearSpace(problem, network, *points)


@pytest.mark.parametrize("stages", [2, 5])
@pytest.mark.parametrize("case", CASES)
def test_the_matrix_does_what_the_stages_do(case, stages):
    dt, scheme = 0.05, RadauIIA(stages)
    plain, space = space_of(*CASES[case]), space_of(*CASES[case])
    stage_by_stage = scheme.prepare(plain, dt)
    as_a_matrix = scheme.prepare(space, dt, many=True)
    target = plain.collocation.problem.initial(plain.collocation.interior.x)[:, None]
    start = State(plain.project(plain.collocation.parameters.start, target, 0.0).theta)
    one = other = start
    for n in range(6):
        one, _ = stage_by_stage(one, n * dt, ())
        other, _ = as_a_matrix(other, n * dt, ())
    difference = plain.values(one.theta) - plain.values(other.theta)
    # The features are all but dependent: rounding is magnified to some 1e-11 either way.
    assert np.abs(difference).max() <= 1e-9 * np.abs(plain.values(one.theta)).max()
    assert np.abs(plain.values(one.theta) - plain.values(start.theta)).max() > 0.01
    # The one keeps a factorisation for each stage, the other only that of its coordinates.
    assert len(plain._factorisations) > 1 and list(space._factorisations) == [0.0]


def test_a_space_whose_remainder_depends_on_u_has_no_matrix():
    domain = tb.Interval(0.0, 1.0)
    ends = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    problem = tb.Problem(domain, tb.AllenCahn(0.1), ends, lambda x: jnp.sin(jnp.pi * x[0]))
    boundary = [domain.boundary(segment, 1) for segment in domain.segments]
    space = LinearSpace(problem, tb.random_features(domain, 20), domain.interior(60), boundary)
    space.propagator = None  # whoever asks for it fails
    RadauIIA(3).prepare(space, 0.01, many=True)(State(space.collocation.parameters.start), 0.0, ())
