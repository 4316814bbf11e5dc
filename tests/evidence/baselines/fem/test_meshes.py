"""Meshes: the right area and boundary, every facet named once, cells that are not degenerate."""

import numpy as np
import pytest

import tengbc as tb

skfem = pytest.importorskip("skfem")

from tengbc.evidence.baselines.fem.meshes import build_mesh, plane  # noqa: E402

L_SHAPE = tb.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
HOLES = tb.Polygon(
    [(0, 0), (3, 0), (3.5, 2), (1, 2.5)],
    holes=[[(1, 0.5), (1.5, 0.5), (1.5, 1), (1, 1)], [(2, 1), (2.5, 1.2), (2.2, 1.6)]],
    names=["low", "side", "high", "side"],
)
CURVED = (
    tb.Disk(2.0, (1.0, -5.0)),
    tb.Annulus(0.3, 1.0, (2.0, 0.0)),
    tb.AnnularSector(0.5, 1.0, 0.0, np.pi / 2),
    tb.AnnularSector(0.2, 1.0, -1.0, 4.9, (0.0, 1.0)),
    tb.Polygon([(0, 0), (3, 0), (3.5, 2), (1, 2.5)], holes=[tb.Disk(0.6, (1.8, 1))]),
    tb.Disk(2.0).with_parts(east=("circle", lambda x: x[0] > 1.3)),
)
STRAIGHT = (
    tb.Rectangle((0.0, -1.0), (3.0, 0.0)),
    tb.Box((0.0, 0.0), (1.0, 2.0)),
    L_SHAPE,
    HOLES,
    tb.Polygon([(1e4, 0), (1e4 + 1, 0), (1e4 + 0.5, 1)]),
    tb.Rectangle().with_parts(a=("left", (0.3, 0.35)), b=("top", lambda x: x[0] > 0.21)),
)


def area(mesh):
    return skfem.Basis(mesh.mesh, mesh.element, intorder=6, disable_doflocs=True).dx.sum()


def lengths(mesh):
    return {
        name: skfem.FacetBasis(
            mesh.mesh, mesh.element, facets=facets, intorder=8, disable_doflocs=True
        ).dx.sum()
        for name, facets in mesh.segments.items()
    }


@pytest.mark.parametrize("domain", STRAIGHT, ids=repr)
def test_straight_domains_are_met_exactly(domain):
    mesh = build_mesh(domain, 12)
    assert area(mesh) == pytest.approx(domain.measure, rel=1e-11)
    for name, length in lengths(mesh).items():
        assert length == pytest.approx(domain.segment_measure(name), rel=1e-11)


@pytest.mark.parametrize("domain", CURVED, ids=repr)
def test_curved_domains_are_met_to_fourth_order(domain):
    """With straight edges the area would be off by order two only."""
    errors = [abs(area(build_mesh(domain, n)) / domain.measure - 1) for n in (16, 32)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.2)
    assert errors[1] < 1e-6
    for name, length in lengths(build_mesh(domain, 32)).items():
        assert length == pytest.approx(domain.segment_measure(name), rel=1e-6)


@pytest.mark.parametrize("domain", (*CURVED, *STRAIGHT), ids=repr)
def test_every_boundary_facet_belongs_to_one_segment(domain):
    mesh = build_mesh(domain, 10)
    assert tuple(mesh.segments) == domain.segments
    named = np.concatenate(list(mesh.segments.values()))
    assert sorted(named) == sorted(mesh.mesh.boundary_facets())


@pytest.mark.parametrize("domain", (*CURVED, *STRAIGHT), ids=repr)
def test_boundary_nodes_lie_on_the_true_boundary(domain):
    mesh = build_mesh(domain, 10)
    for name, facets in mesh.segments.items():
        assert domain.contains(mesh.nodes[mesh.facet_numbers(facets)].reshape(-1, 2), 1e-9).all()
        # A little farther out along the normal lies the outside; a corner has no normal.
        nodes = mesh.nodes[mesh.facet_numbers(facets)[:, 2]]
        points = domain.boundary(name, 400)
        nearest = np.argmin(np.linalg.norm(nodes[:, None] - points.x, axis=2), axis=1)
        outside = nodes + 1e-6 * domain.scale * points.normal[nearest]
        assert not domain.contains(outside).any()


@pytest.mark.parametrize("domain", (*CURVED, *STRAIGHT), ids=repr)
def test_cells_are_well_shaped_and_not_folded(domain):
    mesh = build_mesh(domain, 20)
    basis = skfem.Basis(mesh.mesh, mesh.element, intorder=4, disable_doflocs=True)
    determinant = mesh.mesh.mapping().detDF(basis.X)
    assert np.all(np.sign(determinant) == np.sign(determinant[:, :1]))
    corners = mesh.mesh.p.T[mesh.mesh.t.T]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    # Four √3 times the area over the sum of squared sides is one for an equilateral triangle.
    areas = basis.dx.sum(axis=1)
    assert (areas / np.sum(sides**2, axis=1)).min() > 0.04
    assert sides.max() < 2.2 * np.max(np.diff(domain.bounds, axis=0)) / 20


def test_a_thin_ring_is_not_cut_by_its_own_chords():
    ring = tb.Annulus(0.99, 1.0)
    mesh = build_mesh(ring, 8)
    assert area(mesh) == pytest.approx(ring.measure, rel=1e-3)
    for name, length in lengths(mesh).items():
        assert length == pytest.approx(ring.segment_measure(name), rel=1e-5)


def test_resolution_counts_cells_across():
    assert build_mesh(tb.Disk(), 64).unknowns == 12 * 32**2 + 6 * 32 + 1
    assert build_mesh(tb.Rectangle(), 32).unknowns == 65**2
    assert build_mesh(tb.PeriodicBox((0.0, 0.0), (1.0, 1.0)), 32).unknowns == 64**2


def test_periodic_nodes_are_shared():
    mesh = build_mesh(tb.PeriodicBox((0.0, 1.0), (2.0, 2.0)), 8)
    assert mesh.unknowns == 16 * 8 and not mesh.segments
    places = mesh.mesh.mapping().F(mesh.element.doflocs.T).transpose(2, 1, 0) + mesh.origin
    numbered = mesh.nodes[mesh.numbers[mesh.dofs.element_dofs]]
    gap = (places - numbered + 1e-9) % np.array([2.0, 1.0])
    assert gap.max() < 1e-8


def test_a_polygon_too_sharp_for_the_lattice_is_still_meshed(monkeypatch):
    def defeated(domain, across, rim):
        raise tb.UsageError("too narrow")

    monkeypatch.setattr(plane, "triangulate", defeated)
    mesh = build_mesh(HOLES, 12)
    assert area(mesh) == pytest.approx(HOLES.measure, rel=1e-12)
    assert lengths(mesh)["hole1"] == pytest.approx(HOLES.segment_measure("hole1"), rel=1e-12)


def test_a_narrow_gap_splits_the_edges_along_it():
    gap = tb.Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[[(0.02, 1), (1, 1), (1, 2)]])
    assert area(build_mesh(gap, 8)) == pytest.approx(gap.measure, rel=1e-11)


@pytest.mark.parametrize("resolution", [1, 0, -3, 2.5, True])
def test_resolution_must_be_a_count(wrong_types, resolution):
    with pytest.raises(tb.UsageError, match="resolution"):
        build_mesh(tb.Disk(), resolution)


@pytest.mark.parametrize(
    "domain", [tb.Interval(0.0, 1.0), tb.Ball(), tb.Box((0.0,) * 3, (1.0,) * 3)], ids=repr
)
def test_other_dimensions_are_refused(domain):
    with pytest.raises(tb.UsageError, match="plane domains"):
        build_mesh(domain, 8)
