"""One table of domains; a test that asks for `domain` runs on each of them.

`bounded` and `periodic` are those with and without a boundary, `segment_of` each domain with each
of its segments.
"""

import numpy as np
import pytest

from tengbc.geometry import (
    AnnularSector,
    Annulus,
    Ball,
    Box,
    Disk,
    Interval,
    PeriodicBox,
    Polygon,
    Rectangle,
)

L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
SQUARE = [(-1, -1), (1, -1), (1, 1), (-1, 1)]

DOMAINS = {
    "interval": Interval(-1.0, 2.5),
    "box-1d": Box([0.5], [2.0]),
    "box-2d": Box((0, -1), (2, 0.5)),
    "box-3d": Box((0, 0, 1), (1, 2, 1.5)),
    "box-4d": Box((0, 0, 0, 0), (1, 0.5, 2, 1)),
    "rectangle": Rectangle(),
    "disk": Disk(),
    "disk-moved": Disk(0.7, (3, -2)),
    "disk-far": Disk(0.5, (1000.0, 2000.0)),
    "ball": Ball(),
    "ball-moved": Ball(1.5, (1, 0, -1)),
    "annulus": Annulus(0.25, 1.0),
    "annulus-moved": Annulus(0.5, 0.75, center=(-1, 1)),
    "sector": AnnularSector(0.25, 1.0, 0.0, np.pi / 2),
    "sector-half": AnnularSector(0.5, 1.0, -np.pi / 2, np.pi / 2),
    "sector-reflex": AnnularSector(0.5, 1.2, 1.0, 6.5, center=(1, 2)),
    "triangle-clockwise": Polygon([(0, 0), (0.3, 1.1), (1.4, 0.2)]),
    "l-shape": Polygon(L_SHAPE),
    "l-shape-clockwise-named": Polygon(
        L_SHAPE[::-1], names=["wall", "in", "wall", "wall", "out", "wall"]
    ),
    "polygon-holes": Polygon(
        SQUARE,
        holes=[
            [(-0.5, -0.5), (0, -0.5), (-0.25, 0.25)],
            [(0.3, 0.3), (0.3, 0.7), (0.7, 0.7), (0.7, 0.3)],
        ],
    ),
    "round-hole": Polygon(SQUARE, holes=[Disk(0.6, (0.2, -0.1))]),
    "round-holes": Polygon(
        [(0, 0), (4, 0), (4.5, 3), (1, 2.5)],
        holes=[
            Disk(0.3, (1.5, 1)),
            [(2, 0.5), (2.5, 0.5), (2.2, 1)],
            AnnularSector(0.4, 0.8, 1.0, 3.5, center=(3.2, 1.7)),
            Rectangle((3, 0.2), (3.6, 0.5)),
        ],
        names=["low", "side", "high", "side"],
    ),
    "round-hole-far": Polygon([(x + 1e4, y) for x, y in SQUARE], holes=[Disk(0.9, (1e4, 0))]),
    "polygon-thin": Polygon([(0, 0), (1, 1), (0.51, 0.49)]),
    "polygon-far": Polygon([(x + 1e4, y - 1e4) for x, y in L_SHAPE]),
    "interval-parts": Interval(0, 2).with_parts(wall=("right", lambda x: x[0] > 1)),
    "rectangle-parts": Rectangle((0, 0), (2, 1)).with_parts(
        radiator=("left", lambda x: (x[1] > 0.2) & (x[1] < 0.8)), window=("top", (0.25, 0.5))
    ),
    "disk-parts": Disk(2, (1, 1)).with_parts(
        east=("circle", lambda x: x[0] > 2), west=("circle", lambda x: x[0] < 0.5)
    ),
    "sector-parts": AnnularSector(0.5, 1.2, 1.0, 6.5).with_parts(hot=("inner", (0.1, 0.7))),
    "round-hole-parts": Polygon(SQUARE, [Disk(0.6)], names=["rim"] * 4)
    .with_parts(above=("hole0", lambda x: x[1] > 0), corner=("rim", (0.1, 0.3)))
    .with_parts(right=("above", lambda x: x[0] > 0)),
    "periodic-1d": PeriodicBox([0], [2 * np.pi]),
    "periodic-2d": PeriodicBox((0, -1), (2 * np.pi, 1)),
    "periodic-3d": PeriodicBox((0, 0, 0), (1, 2, 3)),
}
SEGMENTS = [(name, segment) for name, domain in DOMAINS.items() for segment in domain.segments]


@pytest.fixture(params=DOMAINS)
def domain(request):
    return DOMAINS[request.param]


@pytest.fixture(params=[name for name in DOMAINS if not DOMAINS[name].periodic])
def bounded(request):
    return DOMAINS[request.param]


@pytest.fixture(params=[name for name in DOMAINS if DOMAINS[name].periodic])
def periodic(request):
    return DOMAINS[request.param]


@pytest.fixture(params=SEGMENTS, ids=lambda pair: "-".join(pair))
def segment_of(request):
    name, segment = request.param
    return DOMAINS[name], segment
