"""Pictures: true values, inside the domain only, cut along the true boundary."""

import base64

import numpy as np
import pytest

import tengbc as tb
from tengbc.report.drawing import closed_rings
from tengbc.report.pictures import picture_data
from tengbc.report.raster import rasters
from tests.report.cases import MISS, SECTOR, decoded, made_up

L_SHAPE = tb.Polygon(
    [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)],
    holes=[[(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)]],
    names=["floor", "right", "step", "step", "top", "left"],
)
ROUND_HOLE = tb.Polygon([(0, 0), (2, 0), (2, 2), (0, 2)], holes=[tb.Disk(0.6, (1, 1))]).with_parts(
    hot=("hole0", lambda x: x[0] > 1.2), door=("edge0", (0.2, 0.5))
)


def area(rings):
    """Even-odd area of nested rings: outer ones count, holes are taken off."""
    parts = []
    for ring in rings:
        x, y = np.reshape(ring, (-1, 2)).T
        parts.append(abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2)
    return max(parts) - sum(sorted(parts)[:-1])


@pytest.mark.parametrize(
    "domain", [SECTOR, tb.Disk(2.0), tb.Annulus(0.5, 1.0), L_SHAPE, ROUND_HOLE]
)
def test_the_outline_closes_around_the_domain(domain):
    (view,) = rasters(domain, 30)
    assert area(view.layout["rings"]) == pytest.approx(domain.measure, rel=1e-3)


def test_lines_join_whatever_their_order_and_direction():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)
    sides = [square[2:4][::-1], square[0:2], square[3:5], square[1:3][::-1]]
    (ring,) = closed_rings(sides, 1.0)
    assert area([ring]) == 1 and np.allclose(ring[0], ring[-1])


@pytest.mark.parametrize(
    "domain", [SECTOR, L_SHAPE, ROUND_HOLE, tb.Ball(1.0), tb.Box((0, 0, 0), (1, 2, 3))]
)
def test_no_point_lies_outside(domain):
    for view in rasters(domain, 30):
        assert domain.contains(view.points).all()
        assert len(view.points) == np.prod(view.layout["shape"])


def test_rows_of_a_picture_run_along_x():
    (view,) = rasters(tb.Rectangle((0.0, 0.0), (2.0, 1.0)), 20)
    rows, columns = view.layout["shape"]
    assert columns > rows
    grid = view.points.reshape(rows, columns, 2)
    assert (np.diff(grid[:, :, 0], axis=1) > 0).all() and (grid[0, :, 1] == 0).all()


def test_slices_of_a_ball_are_disks():
    for view in rasters(tb.Ball(1.0), 20):
        mask = view.layout["mask"]
        share = np.frombuffer(base64.b64decode(mask["bytes"]), np.uint8).mean() / 255
        assert share == pytest.approx(np.pi / 4, abs=2e-3)
        assert "plane" in view.layout["title"]


@pytest.mark.parametrize(
    ("domain", "components", "kinds"),
    [
        (tb.Interval(0.0, 1.0), 0, ["line"]),
        (SECTOR, 0, ["map"]),
        (tb.Rectangle(), 2, ["map"]),
        (tb.Box((0, 0, 0), (1, 1, 1)), 0, ["map"] * 3),
    ],
)
def test_pictures_hold_the_solution_and_its_error(domain, components, kinds):
    solution = made_up(domain, components)
    made = picture_data(solution)
    assert [view["kind"] for view in made["views"]] == kinds
    assert len(made["components"]) == max(components, 1) and len(made["times"]) == 41
    for view, points in zip(made["views"], _points(domain, made), strict=True):
        for component in range(max(components, 1)):
            u = decoded(view["solution"][component])
            e = decoded(view["error"][component])
            k = 30
            expected = solution(points, made["times"][k]).reshape(len(points), -1)[:, component]
            assert np.abs(u[k] - expected).max() <= 1e-4 * np.abs(expected).max()
            miss = MISS * made["times"][k] * points[:, 0]
            assert np.abs(e[k] - miss).max() <= 1e-4 * MISS


def _points(domain, made):
    shapes = [view["shape"] for view in made["views"]]
    for per_axis in range(20, 120):
        found = rasters(domain, per_axis)
        if [view.layout["shape"] for view in found] == shapes:
            return [view.points for view in found]
    raise AssertionError("no grid of this shape")


def test_stored_references_are_compared_on_their_own_points():
    """A periodic square whose reference is known on a grid at six times."""
    axis = np.arange(32) * 2 * np.pi / 32
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    solution = made_up(tb.PeriodicBox((0.0, 0.0), (2 * np.pi, 2 * np.pi)), exact=False)
    times = np.linspace(0.0, 1.0, 6)
    samples = solution.at_times(points, times) - 0.01
    solution.problem.reference = tb.Reference(times, points, samples)
    made = picture_data(solution)
    assert made["reference"] and made["times"] == pytest.approx(times)
    error = decoded(made["views"][0]["error"][0])
    assert np.allclose(error, 0.01, rtol=1e-4)
    solution.problem.reference = tb.Reference(times[:2], points, samples[:2])
    assert "error" not in picture_data(solution)["views"][0]
