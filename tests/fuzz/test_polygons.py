"""Any list of corners: a polygon whose parts belong together, or an error of ours."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tengbc.geometry import Polygon
from tests.fuzz.allowed import bounded

# On a small grid corners repeat, lie on one line and edges cross; anywhere, they do all but that.
near = st.integers(-2, 2).map(float)
anywhere = st.floats(-1e3, 1e3)
odd = st.sampled_from([0.0, 1.0, -1.0, 1e-12, 1e-300, 1e16, 1e300, np.nan, np.inf])


@st.composite
def corners(draw, most=7):
    """A list of points in the plane, each coordinate of one kind."""
    coordinate = draw(st.sampled_from([near, near, anywhere, odd]))
    return draw(st.lists(st.tuples(coordinate, coordinate), max_size=most))


scales = st.sampled_from([1.0, 1e-9, 1e9, 1e-150])


def looked_at(outer, holes=(), names=None):
    """A polygon with all that is asked of it before a run."""
    polygon = Polygon(outer, holes=holes, names=names)
    inside = polygon.interior(40)
    boundary = [polygon.boundary(segment, 7) for segment in polygon.segments]
    return polygon, inside, boundary


@given(corners(), st.lists(corners(most=4), max_size=2), scales)
@example([(0.0, 0.0), (2.0, 0.0), (2.0, 1e-13), (0.0, 1e-13)], [], 1.0)
@example([(0.0, 0.0), (2.0, 0.0), (1.0, 0.0), (1.0, 1.0)], [], 1.0)
@example(
    [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)], [[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]], 1.0
)
@example([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)], [], 1e-150)
@example([(0.0, 0.0), (0.0, 1e300), (1e300, 0.0)], [], 1.0)
def test_any_corners(outer, holes, scale):
    outer = [(scale * x, scale * y) for x, y in outer]
    found = bounded(lambda: looked_at(outer, holes))
    if found is None:
        return
    polygon, inside, boundary = found
    assert 0 < polygon.measure < np.inf
    assert len(inside) == 40 and polygon.contains(inside.x).all()
    assert inside.w.sum() == pytest.approx(polygon.measure, rel=1e-9)
    for points in boundary:
        assert np.linalg.norm(points.normal, axis=1) == pytest.approx(1.0, abs=1e-9)
        assert points.w.sum() == pytest.approx(polygon.segment_measure(points.segment), rel=1e-9)
    # ∮ n = 0 around anything closed.
    flux = sum((points.w[:, None] * points.normal).sum(axis=0) for points in boundary)
    assert np.abs(flux).max() <= 1e-9 * sum(map(polygon.segment_measure, polygon.segments))


@pytest.mark.usefixtures("wrong_types")
@given(
    st.one_of(st.none(), st.text(max_size=4), st.integers(), st.lists(st.text(), max_size=4)),
    st.one_of(st.none(), st.lists(st.one_of(st.text(max_size=2), st.integers()), max_size=5)),
)
def test_what_is_no_list_of_corners(outer, names):
    bounded(lambda: looked_at(outer))
    bounded(lambda: looked_at([(0, 0), (1, 0), (0, 1)], names=names))
