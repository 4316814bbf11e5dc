"""Integration over cut cells against the domains' own rules."""

import numpy as np
import pytest

import tengbc as tb
from tengbc.patches import rules
from tengbc.patches.cells import Grid
from tengbc.patches.cutting import CutCells
from tests.patches.domains import DOMAINS
from tests.patches.test_cutting import at_level, cut_cells

COUNT = 6
POWERS = [(0, 0), (1, 0), (0, 1), (3, 1), (2, 4), (0, 5), (9, 2), (5, 6)]  # up to 2·6 − 1


def moments(domain, x, w):
    lower, upper = map(np.asarray, domain.bounds)
    z = (2 * x - lower - upper) / (upper - lower)
    return np.array([w @ np.prod(z ** np.array(p[: z.shape[1]]), axis=1) for p in POWERS])


def together(cut, level, count=COUNT):
    found = [rules.inside(cut, cell, count) for cell in at_level(cut.grid, level)]
    return np.concatenate([x for x, _ in found]), np.concatenate([w for _, w in found])


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_moments(name, level):
    cut = cut_cells(name)
    points = cut.domain.interior(rule="gauss", order=2 * COUNT - 1)
    x, w = together(cut, level)
    expected = moments(cut.domain, points.x, points.w)
    found = moments(cut.domain, x, w)
    assert np.abs(found - expected).max() <= 1e-12 * cut.domain.measure
    assert (w > 0).all()
    assert cut.domain.contains(x, 1e-11).all()


@pytest.mark.parametrize("name", DOMAINS)
def test_nodes_lie_in_their_cell(name):
    cut = cut_cells(name)
    for cell in at_level(cut.grid, 2):
        x, _ = rules.inside(cut, cell, 4)
        lower, upper = cut.grid.box(cell)
        assert (x >= lower - 1e-11).all() and (x <= upper + 1e-11).all()


def test_nothing_is_left_outside():
    cut = cut_cells("l-shape")
    outside = [cell for cell in at_level(cut.grid, 2) if cut.kind(cell) == "outside"]
    assert len(outside) == 4
    assert all(len(rules.inside(cut, cell, 3)[1]) == 0 for cell in outside)


@pytest.mark.parametrize("name", DOMAINS)
def test_boundary_integrals_by_the_divergence_theorem(name):
    """∮ F·n = ∫ ∇·F for F = (z₁⁴, z₂³) over all pieces of the boundary."""
    cut = cut_cells(name)
    lower, upper = map(np.asarray, cut.domain.bounds)
    scale, powers = 2 / (upper - lower), np.array([4, 3])[: len(lower)]
    place = lambda x: (2 * x - lower - upper) / (upper - lower)
    around = 0.0
    for cell in at_level(cut.grid, 2):
        for piece in cut.pieces(cell):
            x, normal, w = rules.on_piece(piece, 5)
            around += w @ np.sum(place(x) ** powers * normal, axis=1)
    x, w = together(cut, 2)
    inside = w @ np.sum(powers * scale * place(x) ** (powers - 1), axis=1)
    assert around == pytest.approx(inside, abs=1e-12 * max(1.0, cut.domain.measure))


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4, 1e-6])
def test_an_arc_that_rises_a_little_above_a_plane(apart):
    """The top of the inner arc is nowhere near an end of a piece."""
    domain = tb.AnnularSector(0.5 + apart, 1.0, 0.25, 2.65)
    lower, upper = np.array([-1.0, 0.0]), np.array([1.0, 1.0])
    cut = CutCells(domain, Grid.over(lower, upper))
    points = domain.interior(rule="gauss", order=2 * COUNT - 1)
    for level in (1, 2, 3):
        x, w = together(cut, level)
        difference = moments(domain, x, w) - moments(domain, points.x, points.w)
        assert np.abs(difference).max() <= 1e-12


@pytest.mark.parametrize("centre", [(0.2, -0.1), (-0.1, 0.2), (0.2, 0.1), (0.1, 0.2), (-0.1, -0.1)])
def test_a_hole_that_touches_a_plane_leaves_two_cusps(centre):
    """No point sees both of them, so that each has a rule of its own."""
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    domain = tb.Polygon(square, holes=[tb.Disk(0.6, centre)])  # touches a plane at ±0.5
    cut = CutCells(domain, Grid.over(*map(np.asarray, domain.bounds)))
    points = domain.interior(rule="gauss", order=2 * COUNT - 1)
    for level in (1, 2, 3):
        x, w = together(cut, level)
        difference = moments(domain, x, w) - moments(domain, points.x, points.w)
        assert np.abs(difference).max() <= 1e-12
        assert (w > 0).all() and domain.contains(x, 1e-11).all()
