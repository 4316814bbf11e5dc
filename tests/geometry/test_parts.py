"""Parts of segments: where they begin and end, and that the domain stays the same otherwise."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengbc.geometry import AnnularSector, Disk, Interval, Parted, Polygon, Rectangle
from tengbc.geometry.mesh import triangulate

ROOM = Rectangle((0, 0), (4, 3))
PARTS = {
    "rectangle": ROOM.with_parts(door=("bottom", (0.25, 0.5)), sill=("top", lambda x: x[0] > 3)),
    "disk": Disk(2).with_parts(east=("circle", lambda x: x[0] > 1)),
    "sector": AnnularSector(1, 2, 0.5, 4).with_parts(hot=("outer", (0.1, 0.4))),
    "hole": Polygon(
        [(0, 0), (2, 0), (0, 2)], [Disk(0.3, (0.5, 0.5))], names=["a", "a", "b"]
    ).with_parts(low=("hole0", lambda x: x[1] < 0.5), tip=("a", lambda x: x[0] > 1.5)),
}


def test_a_part_and_the_rest_of_its_segment():
    room = ROOM.with_parts(radiator=("left", lambda x: (x[1] > 0.3) & (x[1] < 2.1)))
    assert room.segments == ("left", "radiator", "right", "bottom", "top")
    assert room.segment_measure("radiator") == pytest.approx(1.8, rel=1e-14)
    assert room.segment_measure("left") == pytest.approx(1.2, rel=1e-14)
    radiator, rest = (room.boundary(name, 600).x for name in ("radiator", "left"))
    assert (radiator[:, 0] == 0).all() and (rest[:, 0] == 0).all()
    assert radiator[:, 1].min() > 0.3 and radiator[:, 1].max() < 2.1
    assert ((rest[:, 1] < 0.3) | (rest[:, 1] > 2.1)).all()
    assert all((room.boundary(name, 9).normal == [-1, 0]).all() for name in ("radiator", "left"))


def test_fractions_are_of_the_length_of_the_whole_segment():
    square = Polygon([(0, 0), (1, 0), (1, 1), (0, 1)], names=["rim", "rim", "rim", "top"])
    parted = square.with_parts(middle=("rim", (0.25, 0.75)))
    assert parted.segment_measure("middle") == pytest.approx(1.5, rel=1e-14)
    lines = [line for name, line in parted.outline(100) if name == "middle"]
    ends = np.array([line[[0, -1]] for line in lines])
    expected = np.array([[(0.75, 0), (1, 0)], [(1, 0), (1, 1)], [(1, 1), (0.75, 1)]])
    assert ends == pytest.approx(expected)


def test_a_name_without_a_rest_disappears():
    assert ROOM.with_parts(west=("left", lambda x: True)).segments == (
        *("west", "right", "bottom", "top"),
    )
    halves = ROOM.with_parts(low=("left", lambda x: x[1] < 1), high=("left", lambda x: x[1] > 1))
    assert halves.segments == ("low", "high", "right", "bottom", "top")
    assert Interval(0, 1).with_parts(hot=("right", (0, 1))).segments == ("left", "hot")
    all_but_a_point = ROOM.with_parts(a=("left", lambda x: (x[1] != 1.5) & (x[1] > 0)))
    assert all_but_a_point.segments == ("a", "right", "bottom", "top")


def test_a_rule_in_single_precision_leaves_no_sliver():
    disk = Disk().with_parts(
        north=("circle", lambda x: np.float32(abs(x[0])) < np.float32(x[1])),
        east=("circle", lambda x: abs(x[1]) < x[0]),
        rest=("circle", lambda x: (abs(x[0]) >= x[1]) & (abs(x[1]) >= x[0])),
    )
    assert disk.segments == ("north", "east", "rest")
    assert sum(map(disk.segment_measure, disk.segments)) == pytest.approx(2 * np.pi, rel=1e-14)


def test_a_rule_may_be_written_with_jax():
    disk = Disk(2).with_parts(cap=("circle", lambda x: jnp.linalg.norm(x - jnp.array([0, 2])) < 2))
    assert disk.segment_measure("cap") == pytest.approx(2 * 2 * np.pi / 3, rel=1e-13)


@given(st.floats(0, 2 * np.pi), st.floats(0.01, 3.1), st.floats(-100, 100))
def test_an_arc_of_any_width_anywhere(angle, half, middle):
    """The chord at distance cos(half) cuts off an arc of 2·half."""
    towards = np.array([np.cos(angle), np.sin(angle)])
    disk = Disk(0.5, (middle, 0))
    parted = disk.with_parts(
        arc=("circle", lambda x: (x - disk.center) @ towards > 0.5 * np.cos(half))
    )
    assert parted.segment_measure("arc") == pytest.approx(half, rel=1e-10)
    assert parted.segment_measure("circle") == pytest.approx(np.pi - half, rel=1e-10, abs=1e-9)
    arc = parted.boundary("arc", rule="gauss", order=6)  # ∮ n = 2·sin(half)·R towards the middle
    assert arc.w @ arc.normal == pytest.approx(np.sin(half) * towards, abs=1e-9)


@pytest.mark.parametrize("name", PARTS)
def test_the_set_is_the_same(name):
    parted = PARTS[name]
    whole = parted.domain
    assert parted.measure == whole.measure and parted.scale == whole.scale
    assert parted.fills_box == whole.fills_box
    assert np.array_equal(parted.bounds, whole.bounds)
    for arguments in ({"n": 50}, {"n": 50, "rule": "random"}, {"rule": "gauss", "order": 5}):
        inside, again = parted.interior(**arguments), whole.interior(**arguments)
        assert np.array_equal(inside.x, again.x) and np.array_equal(inside.w, again.w)
    grid = whole.bounds[0] + np.random.default_rng(0).random((200, 2)) * np.ptp(
        whole.bounds, axis=0
    )
    assert np.array_equal(parted.contains(grid), whole.contains(grid))
    lengths = [sum(map(each.segment_measure, each.segments)) for each in (parted, whole)]
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-14)


@pytest.mark.parametrize("name", PARTS)
def test_ends_of_parts_are_corners_of_the_mesh(name):
    parted = PARTS[name]
    points, _ = triangulate(parted, 20)
    for segment in parted.segments:
        for face in parted._faces(segment):
            ends = face.place(np.array([[0.0], [1.0]]))[0]
            assert np.linalg.norm(points[:, None] - ends, axis=2).min(axis=0).max() < 1e-6


def test_pieces_know_whether_they_are_straight():
    faces = {name: PARTS["sector"]._faces(name) for name in PARTS["sector"].segments}
    straight = {name for name, chain in faces.items() if all(face.straight for face in chain)}
    assert straight == {"start", "end"}
    assert all(face.straight for face in PARTS["rectangle"]._faces("bottom"))


def test_parts_of_parts():
    first = ROOM.with_parts(low=("left", lambda x: x[1] < 2))
    second = first.with_parts(lowest=("low", (0.75, 1.0)))
    assert second.segments == ("left", "low", "lowest", "right", "bottom", "top")
    assert second.boundary("lowest", 3).x[:, 1] == pytest.approx(
        [1.5 + (k + 0.5) / 6 for k in range(3)]
    )


def test_equal_parts_make_equal_domains():
    one, other = (ROOM.with_parts(a=("left", (0.25, 0.5))) for _ in range(2))
    assert one == other and hash(one) == hash(other) and one != ROOM
    assert one == ROOM.with_parts(a=("left", lambda x: 0.75 <= x[1] < 1.5))
    assert one == Parted(ROOM, [["a", "left", [[0, 0.25, 0.5]]]])
    assert repr(one) == "Parted(Rectangle(lower=(0.0, 0.0), upper=(4.0, 3.0)), a)"
