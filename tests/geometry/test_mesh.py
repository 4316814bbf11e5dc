"""Triangles: they fill the domain, no more and no less, and end on its boundary."""

import math

import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import UsageError
from tengbc.geometry.mesh import triangulate
from tengbc.geometry.triangles import areas

STRAIGHT = {
    "rectangle": tb.Rectangle((0, 0), (1, 2)),
    "box": tb.Box((0, 0), (3, 1)),
    "periodic": tb.PeriodicBox((0, -1), (2, 1)),
    "holes": tb.Polygon(
        [(0, 0), (3, 0), (3, 2), (0, 2)],
        holes=[[(1, 0.5), (1.1, 0.5), (1, 1)], [(2, 0.5), (2.5, 0.5), (2, 1)]],
    ),
    "thin L": tb.Polygon([(0, 0), (1, 0), (1, 0.02), (0.02, 0.02), (0.02, 1), (0, 1)]),
    "needle": tb.Polygon([(0, 0), (1, 0), (1, 0.001)]),
}
ROUND = {
    "disk": tb.Disk(),
    "tiny and far away": tb.Disk(1e-3, (1e3, 0)),
    "annulus": tb.Annulus(0.5, 1.5, (1, 1)),
    "thin ring": tb.Annulus(0.95, 1.0),
    "sector": tb.AnnularSector(0.5, 1.0, 0.0, math.pi / 2),
    "wide sector": tb.AnnularSector(0.5, 1.0, 0.0, 5.0),
    "round holes": tb.Polygon(
        [(0, 0), (3, 0), (3, 2), (0, 2)], holes=[tb.Disk(0.4, (1, 1)), tb.Disk(0.03, (2, 1))]
    ),
    "parts": tb.Disk().with_parts(east=("circle", lambda x: x[0] > 0.3)),
}


@pytest.mark.parametrize("name", STRAIGHT | ROUND)
def test_triangles_fill_the_domain(name):
    domain = (STRAIGHT | ROUND)[name]
    points, triangles = triangulate(domain, 30)
    assert domain.contains(points).all()
    assert (np.unique(triangles) == np.arange(len(points))).all()
    covered = areas(points[triangles])
    assert covered.min() > 0
    tolerance = 1e-12 if name in STRAIGHT else 1e-3
    assert covered.sum() == pytest.approx(domain.measure, rel=tolerance)
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    single, counts = np.unique(edges, axis=0, return_counts=True)
    assert counts.max() == 2
    if domain.segments:  # an edge of one triangle only joins two points of the boundary
        rim = points[np.unique(single[counts == 1])]
        assert not domain._inside(rim, -1e-9 * domain.scale).any()


def test_only_the_plane():
    with pytest.raises(UsageError, match="this one has dimension 3"):
        triangulate(tb.Ball())
