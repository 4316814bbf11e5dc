"""Which points belong to a domain, and the grids and drawings that follow from it."""

import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.geometry import AnnularSector, Ball, Disk, Interval, PeriodicBox, Polygon, Rectangle
from tengbc.geometry.points import outside_error


def test_boundary_points_belong_up_to_the_tolerance(segment_of):
    domain, segment = segment_of
    points = domain.boundary(segment, 40)
    far = np.abs(domain.bounds).max() > 100  # there the coordinates themselves are coarser
    near = 1e-13 * domain.scale * points.normal
    assert domain.contains(points.x + near).all()
    assert domain.contains(points.x - near).all()
    assert far or not domain.contains(points.x + 1e3 * near).any()
    assert domain.contains(points.x + 1e3 * near, tolerance=1e-9).all()


def test_nan_and_infinity_never_belong(domain):
    x = np.repeat(domain.interior(1).x, 4, axis=0)
    x[1, 0], x[2, -1], x[3, 0] = np.nan, np.inf, -np.inf
    assert domain.contains(x).tolist() == [True, False, False, False]


def test_far_points_belong_only_to_a_periodic_box(domain):
    x = np.array([domain.bounds[1] + 10 * domain.scale, domain.bounds[0] - domain.scale])
    assert (domain.contains(x) == domain.periodic).all()


def test_no_points_are_no_points(domain):
    assert domain.contains(np.zeros((0, domain.dim))).shape == (0,)


@pytest.mark.parametrize("shape", [(3,), (4, 5), (2, 2, 2), ()])
def test_a_wrong_shape_is_refused(domain, shape):
    with pytest.raises(UsageError, match=rf"shape \(n, {domain.dim}\)"):
        domain.contains(np.zeros(shape))


def test_the_inside_of_shapes_with_a_reflex_corner_or_a_hole():
    l_shape = Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)])
    assert l_shape.contains([(0.5, 1.5), (1, 1), (1.5, 1.5), (1 + 1e-9, 1 + 1e-9)]).tolist() == [
        *(True, True, False, False)
    ]
    holed = Polygon([(0, 0), (4, 0), (4, 4), (0, 4)], holes=[[(1, 1), (2, 1), (2, 2), (1, 2)]])
    assert holed.contains([(1.5, 1.5), (1, 1.5), (3, 3)]).tolist() == [False, True, True]
    assert holed.measure == pytest.approx(15)
    three_quarters = AnnularSector(1, 2, 0, 1.5 * np.pi)
    assert three_quarters.contains([(1.5, 0), (1, -1), (-1, -1), (0, 0.5)]).tolist() == [
        *(True, False, True, False)
    ]


def test_bounds_are_tight(domain):
    lower, upper = domain.bounds
    assert lower.shape == upper.shape == (domain.dim,)
    if domain.periodic:
        return
    outline = np.concatenate([domain.boundary(s, 4000).x for s in domain.segments])
    assert (outline >= lower - 1e-9).all() and (outline <= upper + 1e-9).all()
    slack = 2e-2 * domain.scale if domain.dim < 4 else 0.2
    assert outline.min(axis=0) == pytest.approx(lower, abs=slack)
    assert outline.max(axis=0) == pytest.approx(upper, abs=slack)


def test_the_evaluation_grid_includes_the_ends():
    assert Interval(0, 1).evaluation_grid(5).tolist() == [[0], [0.25], [0.5], [0.75], [1]]
    assert len(Rectangle().evaluation_grid()) == 101**2
    disk = Disk().evaluation_grid(3)
    assert sorted(map(tuple, disk)) == [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]


def test_the_evaluation_grid_of_a_periodic_box_leaves_out_the_upper_end():
    assert PeriodicBox([0], [1]).evaluation_grid(4).tolist() == [[0], [0.25], [0.5], [0.75]]


def test_the_evaluation_grid_shares_no_point_with_the_default_training_grid():
    training = Rectangle().interior(rule="uniform", per_axis=64).x
    evaluation = Rectangle().evaluation_grid()
    assert not np.isclose(np.unique(training[:, 0])[:, None], np.unique(evaluation[:, 0])).any()


def test_wrap_gives_the_place_in_the_box():
    box = PeriodicBox((0, -1), (2, 1))
    x = np.array([(2.5, 3.25), (-0.5, -1), (2, 1), (-1e-300, 0)])
    assert box.wrap(x) == pytest.approx(np.array([(0.5, -0.75), (1.5, -1), (0, -1), (0, 0)]))
    wrapped = box.wrap(np.random.default_rng(0).normal(size=(1000, 2)) * 50)
    assert (wrapped >= box.bounds[0]).all() and (wrapped < box.bounds[1]).all()


def test_outlines_run_along_the_boundary(domain):
    if domain.dim != 2:
        with pytest.raises(UsageError, match="plane"):
            domain.outline()
        return
    lines = domain.outline(400)
    assert {segment for segment, _ in lines} == set(domain.segments)
    for segment in domain.segments:
        steps = [np.linalg.norm(np.diff(x, axis=0), axis=1) for s, x in lines if s == segment]
        total = sum(step.sum() for step in steps)
        assert total == pytest.approx(domain.segment_measure(segment), rel=1e-4)
    assert all(domain.contains(line, tolerance=1e-10).all() for _, line in lines)


def test_a_closed_outline_ends_where_it_began():
    ((segment, line),) = Disk(2, (1, 1)).outline(50)
    assert segment == "circle" and line.shape == (50, 2)
    assert line[0] == pytest.approx(line[-1])


def test_a_description_is_one_short_line(domain):
    text = domain.describe()
    assert text.startswith(type(domain).__name__)
    assert "\n" not in text and len(text) < 200
    assert (domain.segments or ("periodic",))[0] in text


def test_known_measures_and_sizes():
    assert Disk(2).measure == pytest.approx(4 * np.pi)
    assert Ball(2).measure == pytest.approx(32 / 3 * np.pi)
    assert AnnularSector(1, 3, 0, 0.5).measure == pytest.approx(2)
    assert Disk(2).scale == 2
    assert Rectangle((0, 0), (3, 4)).scale == 2.5


def test_equal_parameters_make_equal_domains():
    assert Disk(1, [0, 0]) == Disk() and hash(Disk(1, [0, 0])) == hash(Disk())
    triangle = [(0, 0), (1, 0), (0, 1)]
    assert Polygon([*triangle, triangle[0]]) == Polygon(np.array(triangle))


def test_points_outside_in_a_sentence():
    x = np.array([[0.0, 0.0], [0.25, -3.0], [5.0, 5.0]])
    text = str(outside_error(x, Disk().contains(x)))
    assert text == (
        "2 of 3 points lie outside the domain, the first at (0.25, -3); leave them out."
    )
