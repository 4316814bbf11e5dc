"""The features of patches as a network: which patch, values, gradients, and what a file keeps."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.networks.patches import PatchBody, PatchTable
from tengbc.patches.cells import graded
from tengbc.patches.patches import Patches
from tests.patches.test_cutting import cut_cells


def patches(name, splits=((0.3, 0.4), (0.31, 0.41), (0.6, 0.1))) -> Patches:
    """Graded leaves around some places of the bounding box, of degrees 2 to 4."""
    cut = cut_cells(name)
    lower, upper = map(np.asarray, cut.domain.bounds)
    leaves = {child for cell in cut.grid.cells for child in cell.children}
    for place in splits:
        x = lower + np.array(place[: len(lower)]) * (upper - lower)
        for cell in sorted(leaves):
            low, high = cut.grid.box(cell)
            if (low <= x).all() and (x <= high).all():
                leaves.remove(cell)
                leaves.update(cell.children)
                break
    chosen = graded(leaves)
    return Patches(cut, {cell: 2 + sum(cell.place) % 3 for cell in chosen})


NAMES = pytest.mark.parametrize("name", ["interval", "rectangle", "disk", "holes-turned"])


@NAMES
def test_points_lie_in_the_patch_of_their_cell(name):
    found = patches(name)
    x = found.cut.domain.interior(500).x
    for point, patch in zip(x, found.table.locate(x), strict=True):
        cells = [cell for cell, k in found.patch_of.items() if k == patch]
        boxes = [found.cut.grid.box(cell) for cell in cells]
        assert any(((low <= point) & (point <= high)).all() for low, high in boxes)


@NAMES
def test_points_on_edges_and_rims_lie_in_a_patch_they_touch(name):
    found = patches(name)
    for low, high in (found.cut.grid.box(cell) for cell in found.leaves):
        corners = np.stack(np.meshgrid(*zip(low, (low + high) / 2, high, strict=True)), axis=-1)
        x = corners.reshape(-1, len(low))
        x = x[found.cut.domain.contains(x)]
        if not len(x):
            continue
        near = 1e-12 * (1 + np.abs(high))
        for point, patch in zip(x, found.table.locate(x), strict=True):
            cells = [cell for cell, k in found.patch_of.items() if k == patch]
            boxes = [found.cut.grid.box(cell) for cell in cells]
            assert any(((a - near <= point) & (point <= b + near)).all() for a, b in boxes), (
                point,
                cells,
            )


def test_points_on_an_upper_rim_near_another_patch():
    found = patches("round-hole")
    s = np.linspace(-0.999, 0.999, 400)
    x = np.concatenate([np.stack([s, 0 * s + 1], axis=1), np.stack([0 * s + 1, s], axis=1)])
    for point, patch in zip(x, found.table.locate(x), strict=True):
        boxes = [found.cut.grid.box(cell) for cell, k in found.patch_of.items() if k == patch]
        assert any(((a <= point) & (point <= b)).all() for a, b in boxes), point


@NAMES
def test_combined_features_and_their_gradients(name):
    table = patches(name).table
    rng = np.random.default_rng(0)
    x = patches(name).cut.domain.interior(40, seed=3).x
    heads = rng.normal(size=(3, table.unknowns))
    features = table.combine(np.eye(table.unknowns), x)
    np.testing.assert_allclose(table.combine(heads, x), features @ heads.T, atol=1e-10)
    slopes = table.combine(heads, x, slopes=True)
    assert slopes.shape == (40, 3, x.shape[1])
    for axis in range(x.shape[1]):
        step = 1e-5 * np.eye(x.shape[1])[axis]
        same = table.locate(x + step) == table.locate(x - step)
        difference = (table.combine(heads, x + step) - table.combine(heads, x - step)) / 2e-5
        scale = np.abs(slopes).max()
        np.testing.assert_allclose(slopes[same, :, axis], difference[same], atol=1e-6 * scale)


@NAMES
def test_features_are_orthonormal_and_live_on_their_patch(name):
    found = patches(name)
    gram, each = 0.0, np.eye(found.table.unknowns)
    for batch in found.batches:
        for k, patch in enumerate(batch.members):
            x, w = batch.x[k][batch.w[k] > 0], batch.w[k][batch.w[k] > 0]
            values, slopes = found.features(np.array([patch]), x[None])
            part = slice(found.table.starts[patch], found.table.starts[patch + 1])
            here = found.table.locate(x) == patch
            evaluated = found.table.combine(each, x[here])
            np.testing.assert_allclose(evaluated[:, part], values[0][here], atol=1e-11)
            gradients = found.table.combine(each, x[here], slopes=True)
            scale = np.abs(slopes).max()
            np.testing.assert_allclose(gradients[:, part], slopes[0][here], atol=1e-12 * scale)
            others = np.delete(evaluated, np.r_[part], axis=1)
            assert here.mean() > 0.99 and np.abs(others).max(initial=0) == 0
            gram = values[0].T @ (w[:, None] * values[0])
            np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-11)


def test_a_table_is_what_its_text_says():
    table = patches("disk").table
    body = PatchBody.of(table)
    again = body.table
    for name in ("lower", "size", "cells", "degrees", "centre", "half", "sizes", "starts"):
        assert np.array_equal(getattr(table, name), getattr(again, name)), name
    assert all(map(np.array_equal, table.mixing, again.mixing))
    assert body.width == table.unknowns and isinstance(again, PatchTable)
    x = np.array([[0.1, 0.2], [-0.4, 0.3]])
    assert np.array_equal(body.features(x), table.combine(np.eye(table.unknowns), x))
    np.testing.assert_array_equal(body(jnp.asarray(x[0])), body.features(x)[0])


@pytest.fixture(scope="module")
def solved():
    def exact(x, t):
        return jnp.exp(-t) * jnp.sin(x[0]) * jnp.sin(x[1]) + 0.1

    domain = tb.Disk(1.0, (0.5, 0.2))
    problem = tb.Problem(
        domain,
        tb.Heat(0.5) + tb.Source(lambda x, t: 0.0 * x[0]),
        {"circle": tb.Dirichlet(exact)},
        lambda x: exact(x, 0.0),
        exact,
    )
    return tb.solve(problem, 0.3, rtol=1e-3, strategy="local-features")


def test_a_file_keeps_every_bit(solved, tmp_path):
    solved.save(tmp_path / "solution")
    again = tb.load(tmp_path / "solution", problem=solved.problem)
    assert np.array_equal(again.thetas, solved.thetas)
    assert np.array_equal(again.times, solved.times) and again.stages == solved.stages > 0
    x = solved.problem.domain.interior(50).x
    for t in (0.0, 0.123, 0.3):
        assert np.array_equal(again(x, t), solved(x, t))


def test_points_outside_are_nan_if_asked(solved):
    x = np.array([[0.5, 0.2], [1.6, 0.2], [0.5, 1.2]])
    found = solved(x, 0.2, outside="nan")
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[2] == pytest.approx(float(solved.problem.exact(x[2:], 0.2)[0]), abs=1e-3)


def test_between_stored_times_the_polynomial_of_the_step(solved):
    x = solved.problem.domain.interior(50).x
    for t in np.linspace(0.0, 0.3, 17):
        truth = solved.problem.exact(x, t)
        assert np.abs(solved(x, t) - truth).max() <= 3e-3 * np.abs(truth).max()
