"""Round holes: areas, moments and normals against formulas, cells of curved triangles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengbc.geometry import AnnularSector, Disk, Polygon, Rectangle, curved, faces, polar

SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
SECTOR = AnnularSector(0.2, 0.4, 0.3, 5.0, center=(0.5, 0.5))


def moment(domain, a, b, order):
    """∫ x^a·y^b."""
    points = domain.interior(rule="gauss", order=order)
    return np.sum(points.w * points.x[:, 0] ** a * points.x[:, 1] ** b)


@st.composite
def disks(draw):
    """(radius, centre) of up to five disks in the unit square, apart from each other."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        radius = draw(st.floats(0.01, 0.45))
        center = [draw(st.floats(radius + 0.002, 0.998 - radius)) for _ in range(2)]
        near = [np.hypot(*np.subtract(center, other)) - r - radius for r, other in found]
        if min(near, default=1.0) > 0.002:
            found.append((radius, center))
    return found


@given(disks())
def test_moments_of_a_square_with_round_holes(drawn):
    holes = [Disk(radius, center) for radius, center in drawn]
    square = Polygon(SQUARE, holes=holes)
    assert square._cells is not None
    assert square.measure == pytest.approx(1 - sum(np.pi * d.radius**2 for d in holes), rel=1e-12)
    # ∫ x²·y over a disk about (a, b) is π·R²·b·(a² + R²/4).
    parts = [
        np.pi * d.radius**2 * d.center[1] * (d.center[0] ** 2 + d.radius**2 / 4) for d in holes
    ]
    assert moment(square, 2, 1, order=3) == pytest.approx(1 / 6 - sum(parts), abs=1e-13)
    points = square.interior(rule="gauss", order=4)
    assert (points.w > 0).all() and square.contains(points.x).all()
    assert points.w.sum() == pytest.approx(square.measure, rel=1e-12)


@pytest.mark.parametrize("order", [0, 3, 10, 30])
def test_a_hole_with_hollow_and_straight_edges(order):
    """What the hole takes away is what its own rule integrates."""
    holed, whole = Polygon(SQUARE, holes=[SECTOR]), Polygon(SQUARE)
    assert holed.measure == pytest.approx(1 - SECTOR.measure, rel=1e-14)
    for power in range(order + 1):
        values = [moment(each, power, order - power, order) for each in (holed, whole, SECTOR)]
        assert values[0] == pytest.approx(values[1] - values[2], abs=1e-14)


def test_a_disk_just_inside_the_square():
    for gap in (1e-2, 1e-4):
        square = Polygon(SQUARE, holes=[Disk(0.5 - gap, (0.5, 0.5))])
        exact = 1 / 3 - np.pi * (0.5 - gap) ** 2 * (0.25 + (0.5 - gap) ** 2 / 4)
        assert moment(square, 2, 0, order=2) == pytest.approx(exact, rel=1e-12)


def test_without_cells_the_mesh_serves():
    square = Polygon(SQUARE, holes=[Disk(0.2, (0.5, 0.5))])
    square.__dict__["_cells"] = None
    exact = 1 / 3 - np.pi * 0.04 * (0.25 + 0.01)
    assert moment(square, 2, 0, order=2) == pytest.approx(exact, rel=1e-3)
    assert moment(square, 0, 0, order=2) == pytest.approx(square.measure, rel=1e-13)


def test_normals_of_a_round_hole_point_to_its_centre():
    square = Polygon(SQUARE, holes=[Disk(0.2, (0.4, 0.6))])
    points = square.boundary("hole0", 30)
    assert points.normal == pytest.approx((np.array([0.4, 0.6]) - points.x) / 0.2)
    assert np.linalg.norm(points.x - [0.4, 0.6], axis=1) == pytest.approx(0.2, rel=1e-14)
    assert square.segment_measure("hole0") == pytest.approx(0.4 * np.pi)


@pytest.mark.parametrize("hole", [Disk(0.3, (0.5, 0.5)), SECTOR, Rectangle((0.2, 0.3), (0.6, 0.5))])
def test_curves_are_placed_by_arc_length_with_normals_across(hole):
    """c' by central differences has the length of the curve, and n is at right angles to it."""
    square = Polygon(SQUARE, holes=[hole])
    s = np.linspace(0.1, 0.9, 9)[:, None]
    for face in square._faces("hole0"):
        slope = (face.place(s + 1e-5)[0] - face.place(s - 1e-5)[0]) / 2e-5
        assert np.linalg.norm(slope, axis=1) == pytest.approx(face.measure, rel=1e-8)
        assert np.sum(slope * face.place(s)[1], axis=1) == pytest.approx(0, abs=1e-8)


def test_a_straight_domain_as_a_hole_is_the_same_as_its_corners():
    corners = [(0.2, 0.3), (0.6, 0.3), (0.6, 0.5), (0.2, 0.5)]
    as_ring = Polygon(SQUARE, holes=[corners])
    for hole in (Rectangle(corners[0], corners[2]), Polygon(corners)):
        as_domain = Polygon(SQUARE, holes=[hole])
        assert as_domain.measure == pytest.approx(as_ring.measure, rel=1e-15)
        x, y = (each.interior(rule="random", n=50).x for each in (as_domain, as_ring))
        assert as_domain.contains(y).all() and as_ring.contains(x).all()
        lengths = [each.segment_measure("hole0") for each in (as_domain, as_ring)]
        assert lengths[0] == pytest.approx(lengths[1])


def test_equal_holes_make_equal_polygons():
    one, other = (Polygon(SQUARE, holes=[Disk(0.2, (0.4, 0.6))]) for _ in range(2))
    assert one == other and hash(one) == hash(other)
    assert one != Polygon(SQUARE, holes=[Disk(0.2, (0.4, 0.5))])


def test_only_flat_faces_are_straight():
    assert all(face.straight for face in Polygon(SQUARE)._faces("edge0"))
    assert not polar.arc(np.zeros(2), 1.0, 1.0).straight
    assert [face.straight for name in SECTOR.segments for face in SECTOR._faces(name)] == [
        *(False, False, True, True)
    ]


def test_how_far_a_curve_turns():
    assert faces.turn(polar.arc(np.zeros(2), 3.0, -1.0)) == pytest.approx(2 * np.pi, rel=1e-13)
    assert faces.turn(faces.part(polar.arc(np.zeros(2), 3.0, 1.0), 0.5, 0.25)) == pytest.approx(
        np.pi / 2
    )
    assert faces.turn(SECTOR._faces("start")[0]) == 0.0


def test_the_height_of_chords():
    """R·(1 − cos(φ/2)) for an arc of angle φ."""
    circle = [polar.arc(np.zeros(2), 3.0, 1.0)]
    cuts = curved.cuts([circle], curved.FINE)[0]
    exact = 3 * (1 - np.cos(np.pi / (len(cuts[0]) - 1)))
    assert curved.height(circle, cuts) == pytest.approx(exact, rel=1e-4)
    assert curved.height(circle, cuts) >= exact


@pytest.mark.parametrize("order", [1, 6, 20])
def test_a_piece_of_an_arc_has_the_rule_of_that_arc(order):
    """∫ cos(k·φ) over a quarter, in closed form."""
    piece = faces.part(polar.arc(np.zeros(2), 2.0, 1.0), 0.125, 0.375)
    s, weights = piece.gauss(order)
    x = piece.place(s)[0] / 2
    angle = np.arctan2(x[:, 1], x[:, 0])
    for k in range(1, order + 1):
        exact = (np.sin(k * 3 * np.pi / 4) - np.sin(k * np.pi / 4)) / k / (np.pi / 2)
        assert weights @ np.cos(k * angle) == pytest.approx(exact, abs=1e-14)
