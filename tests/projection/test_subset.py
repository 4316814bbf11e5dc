"""The paper's projection: never worse, repeatable, and safe where the undamped step blows up."""

import itertools
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.conditions import Dirichlet
from tengbc.equations import Heat
from tengbc.geometry import Disk
from tengbc.lstsq import spectrum
from tengbc.networks import Basis
from tengbc.networks.network import with_head
from tengbc.problem import Problem
from tengbc.projection import Collocation, SubsetProjection
from tengbc.projection.collocation import unit_lengths
from tengbc.projection.subset import draw_subset
from tengbc.solver.sampling import boundary_points
from tests.projection.cases import SCALAR, collocation, start

KEY = (5, 1, 0)
PROJECTION = SubsetProjection(
    iterations=6, subset=80, cutoff=3e-8, method="svd", repeats=(1e-4, 1e-6), gain=0.0, near=0.0
)


@pytest.fixture(scope="module")
def rows():
    return collocation(SCALAR, widths=(12, 12), interior=200, boundary=60)


@pytest.fixture(scope="module")
def target(rows):
    return rows.problem.initial(rows.interior.x)[:, None]


class Recorded(Collocation):
    """A collocation that remembers which columns were asked for."""

    def __init__(self, rows):
        self.__dict__.update(vars(rows), asked=[])

    def columns(self, theta, t, active):
        self.asked.append(active)
        return super().columns(theta, t, active)


@pytest.mark.parametrize("method", ["svd", "gram"])
@pytest.mark.parametrize("cutoff", [1e-3, 1e-5, 1e-15])
def test_the_residual_never_rises(rows, target, cutoff, method):
    """More iterations with the same key are the same ones and some more."""
    theta = start(rows)
    before = np.linalg.norm(rows.residual(theta, target, 0.2))
    sizes = []
    for iterations in range(7):
        projection = replace(PROJECTION, iterations=iterations, cutoff=cutoff, method=method)
        fit = projection.fit(theta, rows, target, 0.2, KEY)
        assert fit.start == before
        assert fit.residual == np.linalg.norm(rows.residual(fit.theta, target, 0.2))
        assert fit.iterations + fit.rejected == iterations
        assert fit.size == rows.norm(target)
        sizes.append(fit.residual)
    assert sizes[0] == before and all(b <= a for a, b in itertools.pairwise(sizes))
    if cutoff > 1e-10:
        assert sizes[-1] < before / 5


def test_the_key_decides_every_bit(rows, target):
    theta = start(rows)
    one, same, other = (
        PROJECTION.fit(theta, rows, target, 0.2, key).theta for key in (KEY, KEY, (5, 2, 0))
    )
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-3


def test_each_iteration_draws_its_own_parameters(rows, target):
    recorded, everything = Recorded(rows), len(start(rows))
    projection = replace(PROJECTION, iterations=2, first_iterations=3, first_subset=everything)
    projection.fit(start(rows), recorded, target, 0.2, KEY)
    assert [len(active) for active in recorded.asked] == [80, 80]
    assert len(np.intersect1d(*recorded.asked)) < 60
    recorded.asked.clear()
    projection.fit(start(rows), recorded, target, 0.2, KEY, first=True)
    assert [len(active) for active in recorded.asked] == [everything, 80, 80]


def test_only_the_subset_moves(rows, target):
    recorded, theta = Recorded(rows), start(rows)
    fit = replace(PROJECTION, iterations=1).fit(theta, recorded, target, 0.2, KEY)
    moved = np.flatnonzero(fit.theta != theta)
    assert fit.iterations == 1 and set(moved) <= set(recorded.asked[0])
    assert len(moved) > 70


def test_a_higher_cutoff_where_the_undamped_step_blows_up(rows, target):
    """With a low cut-off the first step is worse than none; a higher one is found."""
    theta, everything = start(rows), np.arange(len(start(rows)))
    residual = rows.residual(theta, target, 0.2)
    factored = spectrum(rows.columns(theta, 0.2, everything), residual)
    blown = np.linalg.norm(rows.residual(theta + factored.solve(1e-5).x, target, 0.2))
    assert blown > 10 * np.linalg.norm(residual)
    whole = replace(PROJECTION, iterations=1, subset=len(theta), cutoff=1e-5)
    undamped = replace(whole, ladder=(1.0,)).fit(theta, rows, target, 0.2, KEY)
    np.testing.assert_array_equal(undamped.theta, theta)
    assert (undamped.iterations, undamped.rejected) == (0, 1)
    safe = whole.fit(theta, rows, target, 0.2, KEY)
    assert safe.iterations == 1 and safe.residual < 0.9 * safe.start
    assert safe.condition < 1e5 / 4  # the first rung was not taken


def test_a_trial_that_overflows_is_rejected_not_an_error():
    """exp(u) on the boundary is infinite at the trial step, but fine at the state kept."""
    problem = Problem(
        Disk(), Heat(1.0), {"circle": lambda u, x, n, t: jnp.exp(u(x)) - 1}, lambda x: -x[0]
    )
    rows = Collocation(
        problem,
        with_head(Basis(lambda x: x, 2), 0),
        problem.domain.interior(30),
        [problem.domain.boundary("circle", 12)],
    )
    theta = np.array([0.0, 0.0, -30.0])  # exp(−30) has no slope left: the step is enormous
    target = np.full((30, 1), -30.0)
    fit = SubsetProjection(iterations=1, cutoff=1e-30, method="svd", ladder=(1.0,)).fit(
        theta, rows, target + 1e5, 0.0, KEY
    )
    np.testing.assert_array_equal(fit.theta, theta)
    assert fit.rejected == 1


def test_on_a_linear_space_one_step_is_numpys_least_squares():
    problem = Problem(
        Disk(), Heat(1.0), {"circle": Dirichlet(lambda x, t: t * x[0])}, lambda x: x[0]
    )
    rows = Collocation(
        problem,
        with_head(Basis(lambda x: jnp.stack([x[0], x[1], x[0] * x[1], x[1] ** 3]), 2), 0),
        problem.domain.interior(50),
        boundary_points(problem.domain, 20),
    )
    theta, target = np.zeros(5), np.exp(rows.interior.x[:, :1])
    matrix = rows.columns(theta, 0.4, np.arange(5)).T
    best = np.linalg.lstsq(matrix, rows.residual(theta, target, 0.4), rcond=None)[0]
    for method in ("svd", "gram"):
        fit = SubsetProjection(1, method=method).fit(theta, rows, target, 0.4, KEY)
        np.testing.assert_allclose(fit.theta, best, atol=1e-12)
        assert fit.rank == 5
        again = SubsetProjection(3, method=method).fit(best, rows, target, 0.4, KEY)
        np.testing.assert_allclose(again.theta, best, atol=1e-12)


def test_no_more_iterations_than_help(rows, target):
    """Stops at what the subset can reach, or where an iteration hardly gained."""
    recorded, theta = Recorded(rows), start(rows)
    fitted = replace(PROJECTION, iterations=30).fit(theta, rows, target, 0.2, KEY)
    patient = replace(PROJECTION, iterations=12).fit(fitted.theta, recorded, target, 0.2, KEY)
    assert len(recorded.asked) == 12
    for choice in ({"gain": 0.3}, {"near": 1.2}):
        recorded.asked.clear()
        brief = replace(PROJECTION, iterations=12, **choice)
        found = brief.fit(fitted.theta, recorded, target, 0.2, KEY)
        assert len(recorded.asked) < 12
        assert patient.residual <= found.residual < fitted.residual


def test_a_factorisation_is_used_again_in_its_strong_directions(rows):
    """A small change: what curvature has left after one step is taken up without new columns."""
    theta = start(rows)
    there = theta + 1e-3 * np.random.default_rng(2).normal(size=len(theta))
    near = rows.with_boundary_data(rows.boundary_residual(there, 0.2))
    once, repeated = (
        replace(PROJECTION, iterations=1, subset=len(theta), cutoff=1e-4, repeats=repeats).fit(
            theta, near, rows.values(there), 0.2, KEY
        )
        for repeats in ((), (1e-3, 3e-4, 1e-4))
    )
    assert once.iterations == repeated.iterations == 1
    assert repeated.residual < 0.1 * once.residual


def test_columns_are_not_lengthened_without_bound():
    lengths = unit_lengths(np.array([5.0, 0.0, 1e-9, 0.5]))
    np.testing.assert_allclose(lengths, [5.0, 5e-3, 5e-3, 0.5])
    np.testing.assert_array_equal(unit_lengths(np.zeros(3)), np.ones(3))


def test_drawing():
    drawn = draw_subset(100, 20, (1, 2, 3))
    assert len(set(drawn)) == 20 and list(drawn) == sorted(drawn) and drawn.max() < 100
    np.testing.assert_array_equal(draw_subset(100, 200, (1,)), np.arange(100))
    counts = np.bincount(
        np.concatenate([draw_subset(50, 10, (0, key)) for key in range(2000)]), minlength=50
    )
    assert abs(counts - 400).max() < 100  # each parameter one time in five
