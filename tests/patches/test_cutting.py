"""What a domain leaves of cells: its outline closes, and pieces of boundary are shared out once."""

import numpy as np
import pytest

from tengbc.patches import rules
from tengbc.patches.cells import Cell, Grid
from tengbc.patches.cutting import CutCells
from tests.patches.domains import DOMAINS


def cut_cells(name) -> CutCells:
    domain = DOMAINS[name]
    return CutCells(domain, Grid.over(*map(np.asarray, domain.bounds)))


def at_level(grid: Grid, level: int) -> list[Cell]:
    cells = grid.cells
    for _ in range(level):
        cells = [child for cell in cells for child in cell.children]
    return cells


PLANE = [name for name, domain in DOMAINS.items() if domain.dim == 2]


@pytest.mark.parametrize("name", PLANE)
@pytest.mark.parametrize("level", [0, 3])
def test_outlines_close(name, level):
    """∮ n ds = 0 and ∮ x·n ds = 2·area, cell by cell; the areas add up to the domain's."""
    cut, area = cut_cells(name), 0.0
    for cell in at_level(cut.grid, level):
        if cut.kind(cell) == "outside":
            continue
        total, turning = np.zeros(2), 0.0
        for side in cut.sides(cell):
            length = np.linalg.norm(side.end - side.start)
            total += side.normal * length
            turning += (side.start + side.end) / 2 @ side.normal * length
        for piece in cut.pieces(cell):
            if cut.kind(cell) == "whole":  # its sides on the rim are pieces of boundary
                low, high = cut.grid.box(cell)
                assert (piece.ends[1] >= low - 1e-9).all() and (piece.ends[1] <= high + 1e-9).all()
            x, normal, w = rules.on_piece(piece, 12)
            total += w @ normal
            turning += w @ np.sum(x * normal, axis=1)
        far = np.abs(cut.grid.box(cell)).max()
        assert np.abs(total).max() <= 1e-12 * max(1.0, far)
        area += turning / 2
    assert area == pytest.approx(cut.domain.measure, rel=1e-11)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("level", [2])
def test_the_boundary_is_shared_out_once(name, level):
    cut = cut_cells(name)
    lengths = dict.fromkeys(cut.domain.segments, 0.0)
    for cell in at_level(cut.grid, level):
        for piece in cut.pieces(cell):
            assert cut.kind(cell) != "outside"
            _, normal, w = rules.on_piece(piece, 3)
            lengths[piece.segment] += w.sum()
            np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-12)
            low, high = cut.grid.box(cell)
            for end in piece.ends:
                assert (end >= low - 1e-9).all() and (end <= high + 1e-9).all()
    for segment, length in lengths.items():
        assert length == pytest.approx(cut.domain.segment_measure(segment), rel=1e-12)


@pytest.mark.parametrize("name", DOMAINS)
def test_kinds_agree_with_membership(name):
    cut, level = cut_cells(name), 3
    for cell in at_level(cut.grid, level):
        lower, upper = cut.grid.box(cell)
        s = np.random.default_rng(1).uniform(1e-6, 1 - 1e-6, (40, len(lower)))
        inside = cut.domain.contains(lower + s * (upper - lower), 0.0)
        if cut.kind(cell) != "cut":
            assert inside.all() == (cut.kind(cell) == "whole") and inside.any() == inside.all()


@pytest.mark.parametrize("name", PLANE)
def test_cells_agree_on_the_sides_between_them(name):
    cut = cut_cells(name)
    cells = [c for c in at_level(cut.grid, 3) if cut.kind(c) == "cut"]
    for cell in cells:
        for axis in (0, 1):
            other = cell.beside(axis, 1)
            if other not in cells:
                continue
            here, there = (
                sum(np.linalg.norm(s.end - s.start) for s in cut.sides(c) if s.normal[axis] == sign)
                for c, sign in ((cell, 1.0), (other, -1.0))
            )
            edge = float(np.max(cut.grid.edges(cell)))
            assert here == pytest.approx(there, abs=1e-11 * edge)
