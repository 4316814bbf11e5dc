"""Cells of a tree: parts, neighbours and grading, against brute force on boxes."""

import itertools

import numpy as np
import pytest

from tengbc.patches.cells import Cell, Grid, graded, touching

GRIDS = {
    "line": Grid((-0.7,), (1.3,), (2,)),
    "plane": Grid((0.1, -3.0), (0.7, 1.1), (2, 1)),
}


def tree(grid, seed, splits=25):
    """Leaves after splitting some at random, some of them dropped as cells outside would be."""
    rng = np.random.default_rng(seed)
    leaves = set(grid.cells)
    for _ in range(splits):
        cell = sorted(leaves)[rng.integers(len(leaves))]
        leaves.remove(cell)
        leaves.update(cell.children)
    kept = sorted(leaves)
    return [cell for cell in kept if cell.level < 2 or rng.uniform() > 0.1]


def integers(cell, deepest=12):
    """Lower and upper corner in units of the smallest cells: no round-off."""
    edge = 1 << (deepest - cell.level)
    lower = np.array(cell.place) * edge
    return lower, lower + edge


def share_a_side(one, other):
    """(axis, side out of the first) if the boxes meet in more than a corner."""
    (a, b), (c, d) = integers(one), integers(other)
    overlap = np.minimum(b, d) - np.maximum(a, c)
    touched = np.flatnonzero(overlap == 0)
    if len(touched) != 1 or (np.delete(overlap, touched) <= 0).any():
        return None
    axis = int(touched[0])
    return axis, 1 if b[axis] == c[axis] else -1


@pytest.mark.parametrize("name", GRIDS)
def test_children_fill_their_parent(name):
    grid = GRIDS[name]
    for cell in (*grid.cells, Cell(3, (5, 2)[: len(grid.counts)])):
        lower, upper = grid.box(cell)
        boxes = [grid.box(child) for child in cell.children]
        assert len(boxes) == 2 ** len(lower)
        assert all(child.parent == cell for child in cell.children)
        areas = [np.prod(high - low) for low, high in boxes]
        assert sum(areas) == pytest.approx(np.prod(upper - lower))
        assert (np.min([low for low, _ in boxes], axis=0) == lower).all()
        assert (np.max([high for _, high in boxes], axis=0) == upper).all()
        np.testing.assert_allclose(grid.edges(cell), upper - lower, rtol=1e-13)


def test_cells_that_meet_have_the_same_corner_bits():
    grid = GRIDS["plane"]
    for level in range(1, 9):
        for cell in (Cell(level, (k, 0)) for k in range(2 * 2**level - 1)):
            assert grid.box(cell)[1][0] == grid.box(cell.beside(0, 1))[0][0]
            assert grid.box(cell)[0][0] == grid.box(cell.children[0])[0][0]


def test_a_grid_over_a_box_is_of_nearly_cubes():
    grid = Grid.over(np.array([1.0, -2.0]), np.array([4.1, -1.0]))
    assert grid.counts == (3, 1)
    np.testing.assert_allclose(grid.size, (3.1 / 3, 1.0))
    assert len(grid.cells) == 3
    np.testing.assert_allclose(np.max([grid.box(c)[1] for c in grid.cells], axis=0), (4.1, -1.0))


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("level", [0, 3])
def test_the_cell_at_a_point(name, level):
    grid = GRIDS[name]
    lower, size = np.array(grid.lower), np.array(grid.size) * np.array(grid.counts)
    x = lower + size * np.random.default_rng(0).uniform(size=(50, len(lower)))
    x = np.concatenate([x, [lower, lower + size]])  # the rim belongs to the grid
    for point, place in zip(x, grid.at(x, level), strict=True):
        low, high = grid.box(Cell(level, tuple(place.tolist())))
        assert (low <= point + 1e-13).all() and (point <= high + 1e-13).all()


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_touching_finds_every_pair_once(name, seed):
    leaves = graded(tree(GRIDS[name], seed))
    found = list(touching(leaves))
    pairs = {frozenset(pair[:2]) for pair in found}
    assert len(pairs) == len(found)
    for small, large, axis, side in found:
        assert share_a_side(small, large) == (axis, side)
        assert small.level > large.level or (small.level == large.level and side == 1)
    meeting = itertools.combinations(leaves, 2)
    assert pairs == {frozenset(pair) for pair in meeting if share_a_side(*pair)}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_graded_leaves_differ_by_one_level_at_most(name, seed):
    given = tree(GRIDS[name], seed)
    leaves = graded(given)
    for one, other in itertools.combinations(leaves, 2):
        assert share_a_side(one, other) is None or abs(one.level - other.level) <= 1

    def ancestors(cell):
        while cell.level >= 0:
            yield cell
            cell = cell.parent

    # They are parts of the leaves given, and fill the same area.
    assert all(any(owner in given for owner in ancestors(cell)) for cell in leaves)
    area = lambda cells: sum(
        4 ** (12 - c.level) if len(c.place) == 2 else 2 ** (12 - c.level) for c in cells
    )
    assert area(leaves) == area(given)
    assert graded(leaves) == leaves


def test_grading_reaches_as_far_as_it_must():
    """One small cell in a corner: its neighbours are split in rings, no others."""
    cell = Cell(0, (0, 0))
    leaves = set()
    for _ in range(5):
        first, *others = cell.children
        leaves.update(others)
        cell = first
    leaves.add(cell)
    assert graded(leaves) == leaves  # already graded
    deep = Cell(5, (15, 0))  # against the middle, beside the large cell to the right
    leaves = {Cell(1, (1, 0)), Cell(1, (0, 1)), Cell(1, (1, 1))}
    cell = Cell(1, (0, 0))
    while cell.level < 5:
        place = tuple(k >> (5 - cell.level - 1) for k in deep.place)
        leaves.update(c for c in cell.children if c.place != place)
        cell = Cell(cell.level + 1, place)
    leaves.add(cell)
    found = graded(leaves)
    assert max(c.level for c in found if c.place[0] >> (c.level - 1) == 1) == 4
