"""Boundary points: weights, normals, corners, counts."""

import numpy as np
import pytest

from tengbc.geometry import AnnularSector, Ball, Box, Disk, Interval, Polygon, Rectangle

SAMPLED = ["uniform", "low-discrepancy", "random"]
RULES = [*({"rule": rule, "n": 90} for rule in SAMPLED), {"rule": "gauss", "order": 9}]


@pytest.mark.parametrize("arguments", RULES, ids=lambda arguments: arguments["rule"])
def test_weights_normals_and_place(segment_of, arguments):
    domain, segment = segment_of
    points = domain.boundary(segment, **arguments)
    assert points.segment == segment
    assert points.x.shape == points.normal.shape == (len(points), domain.dim)
    assert (points.w > 0).all()
    assert points.w.sum() == pytest.approx(domain.segment_measure(segment), rel=1e-12)
    assert np.linalg.norm(points.normal, axis=1) == pytest.approx(1, abs=1e-14)
    assert domain.contains(points.x).all()
    step = 1e-7 * domain.scale * points.normal
    assert not domain.contains(points.x + step).any()
    assert domain.contains(points.x - step).all()


@pytest.mark.parametrize("rule", ["low-discrepancy", "random"])
def test_the_count_is_exact_and_a_seed_repeats(segment_of, rule):
    domain, segment = segment_of
    for n in (1, 3, 50):
        points, again = (domain.boundary(segment, n, rule=rule, seed=2) for _ in range(2))
        assert len(points) == (1 if domain.dim == 1 else n)
        assert np.array_equal(points.x, again.x)
    if domain.dim > 1:
        assert not np.array_equal(points.x, domain.boundary(segment, 50, rule=rule, seed=3).x)


def test_uniform_counts_are_exact_on_curves_and_near_on_surfaces(segment_of):
    domain, segment = segment_of
    count = len(domain.boundary(segment, 300))
    if domain.dim == 1:
        assert count == 1
    elif domain.dim == 2:
        assert count == 300
    else:
        assert count == pytest.approx(300, rel=0.2)


def test_the_ends_of_an_interval():
    interval = Interval(-1, 2)
    left, right = interval.boundary("left"), interval.boundary("right", 50)
    assert interval.segments == ("left", "right")
    assert (left.x.tolist(), left.w.tolist(), left.normal.tolist()) == ([[-1]], [1], [[-1]])
    assert (right.x.tolist(), right.w.tolist(), right.normal.tolist()) == ([[2]], [1], [[1]])


def test_names_and_places_of_box_faces():
    assert Box([0], [1]).segments == ("left", "right")
    assert Rectangle().segments == ("left", "right", "bottom", "top")
    box = Box((0, 0, 0, 0), (1, 2, 3, 4))
    assert box.segments == (
        *("left", "right", "bottom", "top", "back", "front"),
        *("axis3-lower", "axis3-upper"),
    )
    for index, segment in enumerate(box.segments):
        axis, side = divmod(index, 2)
        points = box.boundary(segment, 20)
        assert (points.x[:, axis] == side * (axis + 1)).all()
        assert (points.normal == (2 * side - 1) * np.eye(4)[axis]).all()
        assert box.segment_measure(segment) == pytest.approx(24 / (axis + 1))


def test_known_lengths():
    sector = AnnularSector(0.5, 2, 0, 1)
    lengths = [sector.segment_measure(segment) for segment in ("inner", "outer", "start", "end")]
    assert lengths == pytest.approx([0.5, 2, 1.5, 1.5])
    assert Disk(3).segment_measure("circle") == pytest.approx(6 * np.pi)
    assert Ball(3).segment_measure("sphere") == pytest.approx(36 * np.pi)


def test_equispaced_by_arc_length():
    circle = Disk().boundary("circle", 8).x
    assert circle[0] == pytest.approx([1, 0])
    assert np.linalg.norm(circle - np.roll(circle, 1, axis=0), axis=1) == pytest.approx(
        2 * np.sin(np.pi / 8)
    )
    assert Rectangle().boundary("bottom", 4).x[:, 0] == pytest.approx([0.125, 0.375, 0.625, 0.875])
    start = AnnularSector(1, 2, 0, 1).boundary("start", 2).x
    assert start == pytest.approx(np.array([[1.25, 0], [1.75, 0]]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 12, 40, 100])
def test_no_point_on_a_corner_of_a_chain_of_edges(n):
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    points = Polygon(corners, names=["rim"] * 4).boundary("rim", n)
    assert len(points) == n and np.ptp(points.w) == 0
    apart = np.linalg.norm(points.x[:, None] - corners, axis=2).min()
    assert apart > 1e-3 * 4 / n
    gaps = np.diff(np.sort(np.mod(_arc_length(points.x), 4)))
    assert gaps == pytest.approx(4 / n)


def _arc_length(x):
    """Arc length along the unit square from the origin, anticlockwise."""
    return np.select(
        [x[:, 1] == 0, x[:, 0] == 1, x[:, 1] == 1, x[:, 0] == 0],
        [x[:, 0], 1 + x[:, 1], 3 - x[:, 0], 4 - x[:, 1]],
        np.nan,
    )


def test_edges_of_one_name_form_one_segment():
    polygon = Polygon([(0, 0), (3, 0), (3, 1), (0, 1)], names=["wall", "out", "wall", "in"])
    assert polygon.segments == ("wall", "out", "in")
    wall = polygon.boundary("wall", 600)
    assert wall.w.sum() == pytest.approx(6)
    assert set(wall.x[:, 1]) == {0.0, 1.0}
    assert (wall.normal[:, 1] == np.where(wall.x[:, 1] == 0, -1, 1)).all()
