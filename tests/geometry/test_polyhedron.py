"""Polyhedra: their measures, rules and membership, and what is refused."""

import numpy as np
import pytest

import tengbc as tb
from tengbc.geometry import convex

NOTCHED = tb.Polyhedron.less_corner((-1, -1, -1), (1, 1, 1), (0.0, 0.2, -0.3))
TETRAHEDRON = tb.Polyhedron(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
)
PRISM = tb.Polyhedron(
    [[x, y, z] for z in (0.0, 1.5) for x, y in ((0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2))],
    [range(5, -1, -1), range(6, 12), *([k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6))],
    ["ground", "roof", *["wall"] * 6],
)


def test_measures():
    assert NOTCHED.measure == pytest.approx(8 - 1.0 * 0.8 * 1.3, rel=1e-14)
    assert NOTCHED.segment_measure("notch") == pytest.approx(0.8 * 1.3 + 1.3 + 0.8, rel=1e-14)
    assert NOTCHED.segment_measure("right") == pytest.approx(4 - 0.8 * 1.3, rel=1e-14)
    assert TETRAHEDRON.measure == pytest.approx(1 / 6, rel=1e-14)
    assert TETRAHEDRON.segment_measure("face3") == pytest.approx(np.sqrt(3) / 2, rel=1e-14)
    assert PRISM.measure == pytest.approx(4.5, rel=1e-14)
    assert PRISM.segment_measure("wall") == pytest.approx(12.0, rel=1e-14)


def test_the_rule_inside_is_exact_and_positive():
    """∫x²yz over the tetrahedron is 2!·1!·1!/(3 + 4)!."""
    points = TETRAHEDRON.interior(rule="gauss", order=4)
    x, y, z = points.x.T
    assert points.w @ (x**2 * y * z) == pytest.approx(2 / 5040, rel=1e-13)
    for domain in (NOTCHED, PRISM):
        points = domain.interior(rule="gauss", order=5)
        assert (points.w > 0).all() and domain.contains(points.x).all()
    x, y, z = NOTCHED.interior(rule="gauss", order=4).x.T
    w = NOTCHED.interior(rule="gauss", order=4).w
    assert w @ (x**2 * y**2) == pytest.approx(8 / 9 - (1 / 3) * (1 - 0.2**3) / 3 * 1.3, rel=1e-13)


@pytest.mark.parametrize("domain", [NOTCHED, TETRAHEDRON, PRISM])
def test_the_divergence_theorem(domain):
    """∮ n = 0, ∮ x·n = 3|Ω| and ∮ x₁³n₁ = 3∫x₁²."""
    rim = [domain.boundary(segment, rule="gauss", order=6) for segment in domain.segments]
    assert np.abs(sum(p.w @ p.normal for p in rim)).max() <= 1e-13
    flux = sum(p.w @ np.sum(p.x * p.normal, axis=1) for p in rim)
    assert flux == pytest.approx(3 * domain.measure, rel=1e-13)
    points = domain.interior(rule="gauss", order=4)
    cubes = sum(p.w @ (p.x[:, 0] ** 3 * p.normal[:, 0]) for p in rim)
    assert cubes == pytest.approx(3 * points.w @ points.x[:, 0] ** 2, rel=1e-12)


def test_membership():
    inside, outside = [[-0.5, 0.5, 0.5], [0.5, 0.1, 0.5]], [[0.5, 0.5, 0.5], [1.1, 0, -0.9]]
    assert NOTCHED.contains(inside).all() and not NOTCHED.contains(outside).any()
    rim = np.concatenate([NOTCHED.boundary(s, 50).x for s in NOTCHED.segments])
    assert NOTCHED.contains(rim).all()
    assert not NOTCHED._inside(rim, -1e-6).any() and NOTCHED._inside(rim * 1.00001, 1e-3).all()
    far = np.array([[1.2, 0.0, -0.9], [1.3, 1.4, -1.5]])
    away = float(np.linalg.norm([0.3, 0.4, 0.5]))
    assert list(NOTCHED._inside(far, 0.21)) == [True, False]
    assert list(NOTCHED._inside(far, away + 1e-9)) == [True, True]
    assert list(NOTCHED._inside(far, away - 1e-9)) == [True, False]


@pytest.mark.parametrize(
    ("vertices", "faces", "names", "match"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1]], None, "two faces"),
        (TETRAHEDRON.vertices, [f[::-1] for f in TETRAHEDRON.faces], None, "from inside"),
        (TETRAHEDRON.vertices, TETRAHEDRON.faces, ["a"], "one name for each of the 4 faces"),
        (TETRAHEDRON.vertices, [[0, 1, 1]], None, "three corners"),
        (
            [[0, 0, 0], [1, 0, 0], [1, 1, 0.2], [0, 1, 0], [0.5, 0.5, 1]],
            [[3, 2, 1, 0], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
            None,
            "not flat",
        ),
    ],
)
def test_what_is_no_polyhedron_is_refused(vertices, faces, names, match):
    with pytest.raises(tb.ProblemError, match=match):
        tb.Polyhedron(vertices, faces, names)


def test_convex_solids_fall_into_parts_of_the_same_volume():
    box = convex.Convex.box(np.zeros(3), np.array([1.0, 2.0, 3.0]))
    assert box.volume == pytest.approx(6.0)
    rng = np.random.default_rng(1)
    parts = [box]
    for _ in range(6):
        normal = rng.normal(size=3)
        offset = float(normal @ rng.uniform(0.3, 0.9, 3))
        parts = [half for part in parts for half in part.split(normal, offset)]
    assert len(parts) > 20
    assert sum(part.volume for part in parts) == pytest.approx(6.0, rel=1e-12)
    x, w = (np.concatenate(each) for each in zip(*(part.gauss(4) for part in parts), strict=True))
    assert w @ (x[:, 0] * x[:, 2] ** 3) == pytest.approx(0.5 * 2 * 81 / 4, rel=1e-11)
    assert (w > 0).all()
